package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Scorer;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.RefusedTurnException;
import io.troupe.gateway.TurnExchange;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.serve.completion.AnswerForm;
import io.troupe.serve.completion.AskedTurn;
import io.troupe.serve.completion.CompletionRequest;
import io.troupe.serve.completion.CompletionRequestReader;
import io.troupe.serve.completion.CompletionWriter;
import io.troupe.serve.completion.TokenDelta;
import io.troupe.serve.completion.TokenStream;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedAdapters;
import io.troupe.serve.model.ServedModel;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.LongFunction;

/** Answers {@code /v1/completions} and {@code /v1/chat/completions}. */
final class CompletionsRoute {
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Scorer.Scores NO_SCORES =
      new Scorer.Scores(new double[0], TeacherTokens.NONE);

  private final ServedModel served;
  private final ServeSettings settings;
  private final ServedWeights weights;
  private final ServedAdapters adapters;
  private final ServedTurns turns;
  private final RequestTable table;
  private final ServerCounters counters;
  private final SecureRandom seeds = new SecureRandom();
  private volatile boolean closed;

  CompletionsRoute(
      ServedModel served,
      ServeSettings settings,
      ServedWeights weights,
      ServedAdapters adapters,
      ServedTurns turns,
      RequestTable table,
      ServerCounters counters) {
    this.served = served;
    this.settings = settings;
    this.weights = weights;
    this.adapters = adapters;
    this.turns = turns;
    this.table = table;
    this.counters = counters;
  }

  /** Continues prompts. */
  void complete(HttpReply reply, JsonNode body)
      throws IOException, InterruptedException, HttpErrorException {
    answer(reply, reader().prompts(body));
  }

  /** Answers a conversation without tools. */
  void chat(HttpReply reply, TurnExchange exchange, JsonNode body)
      throws IOException, InterruptedException, HttpErrorException, RefusedTurnException {
    AskedTurn turn = turns.ask(exchange, body, RequestReader.SERVER);
    answer(reply, reader().chat(body, turn));
  }

  private CompletionRequestReader reader() {
    return new CompletionRequestReader(served, adapters.names(), () -> seeds.nextLong() >>> 1);
  }

  private void answer(HttpReply reply, CompletionRequest request)
      throws IOException, InterruptedException, HttpErrorException {
    try (ServedAdapters.AdapterUse use = use(request)) {
      sample(reply, request, use.engine());
    }
  }

  private ServedAdapters.AdapterUse use(CompletionRequest request) throws HttpErrorException {
    if (request.scoresPrompt() && !request.model().equals(served.model())) {
      throw HttpErrorException.bad(
          request.ofPrompt().field(),
          "log-probabilities of a prompt are of `%s` alone".formatted(served.model()));
    }
    return adapters.use(request.model(), served);
  }

  private void sample(HttpReply reply, CompletionRequest request, SamplingEngine engine)
      throws IOException, InterruptedException, HttpErrorException {
    List<Scorer.Scores> scores = scores(request);
    LongFunction<String> tags =
        request.model().equals(served.model()) ? weights::tag : _ -> weights.currentTag();
    CompletionWriter writer =
        new CompletionWriter(request, served, System.currentTimeMillis() / 1000, tags);
    if (request.ofPrompt().only()) {
      reply.json(200, writer.scores(scores));
      counters.served().incrementAndGet();
      counters.promptTokens().addAndGet(request.job().promptTokens());
      return;
    }
    RequestTable.ActiveRequest entry = table.start(request.job(), engine);
    try {
      if (request.form().stream().isPresent()) {
        stream(reply, request.form(), writer, entry.generation());
      } else {
        whole(reply, writer, entry.generation(), scores);
      }
      // A stream may fail after status 200.
      boolean failed = entry.generation().failure().isPresent();
      keep(request, entry.generation());
      (failed ? counters.failed() : counters.served()).incrementAndGet();
      counters.promptTokens().addAndGet(request.job().promptTokens());
    } catch (IOException gone) {
      counters.disconnected().incrementAndGet();
      throw gone;
    } finally {
      counters.generatedTokens().addAndGet(writer.tokens());
      table.finish(entry);
    }
  }

  /** Keeps the answers to a conversation that was read whole. */
  private void keep(CompletionRequest request, TokenStream generation) {
    request
        .turn()
        .filter(asked -> asked.ids().length == request.job().promptTokens())
        .ifPresent(
            asked -> generation.completions(0).forEach(sampled -> turns.keep(asked, sampled)));
  }

  private List<Scorer.Scores> scores(CompletionRequest request) throws HttpErrorException {
    List<Scorer.Scores> scores = new ArrayList<>();
    if (!request.scoresPrompt()) {
      return scores;
    }
    if (request.form().stream().isPresent()) {
      throw HttpErrorException.bad(
          "prompt_logprobs", "prompt_logprobs and stream do not go together");
    }
    try {
      for (int[] prompt : request.job().prompts()) {
        scores.add(
            prompt.length < 2
                ? NO_SCORES
                : served.scorer().score(prompt, request.ofPrompt().likeliest()));
      }
    } catch (UnsupportedOperationException | IllegalArgumentException cannot) {
      throw HttpErrorException.bad(request.ofPrompt().field(), String.valueOf(cannot.getMessage()));
    }
    return scores;
  }

  private void whole(
      HttpReply reply, CompletionWriter writer, TokenStream generation, List<Scorer.Scores> scores)
      throws IOException, InterruptedException, HttpErrorException {
    while (!generation.awaitDone(LOOK)) {
      refuseIfClosed();
    }
    refuseIfFailed(generation);
    reply.json(200, writer.whole(generation.take(Duration.ZERO, Duration.ZERO), scores));
  }

  /** Sends the status with the first token, so that a refused request gets its own status. */
  private void stream(
      HttpReply reply, AnswerForm asked, CompletionWriter writer, TokenStream generation)
      throws IOException, InterruptedException, HttpErrorException {
    AnswerForm.Streaming form = asked.stream().orElseThrow();
    boolean chat = asked.chat();
    boolean begun = false;
    boolean ended = false;
    while (!ended) {
      // Read before the deltas are taken: after the end no further delta appears.
      ended = generation.done();
      List<TokenDelta> deltas =
          generation.take(
              ended ? Duration.ZERO : settings.ping(), ended ? Duration.ZERO : form.interval());
      if (!begun) {
        refuseIfFailed(generation);
        reply.stream();
        if (chat) {
          reply.last(writer.begin());
        }
        begun = true;
      }
      if (generation.failure().isPresent() || closed) {
        reply.event(HttpErrorException.of(500, "InternalServerError", reason(generation)).json());
        reply.done();
        return;
      }
      if (!deltas.isEmpty() && ended) {
        reply.last(writer.chunk(deltas));
      } else if (!deltas.isEmpty()) {
        reply.event(writer.chunk(deltas));
      } else if (!ended) {
        reply.ping();
      }
    }
    if (form.usage()) {
      reply.event(writer.counts());
    }
    reply.done();
  }

  private String reason(TokenStream generation) {
    return generation
        .failure()
        .map(failure -> JsonFields.excerpt(String.valueOf(failure.getMessage())))
        .orElse("the server is closing");
  }

  private void refuseIfFailed(TokenStream generation) throws HttpErrorException {
    refuseIfClosed();
    if (generation.failure().isPresent()) {
      Throwable failure = generation.failure().get();
      boolean theirs = failure instanceof IllegalArgumentException;
      throw theirs
          ? HttpErrorException.of(400, "BadRequestError", reason(generation))
          : HttpErrorException.of(
              failure instanceof CancellationException ? 503 : 500,
              "InternalServerError",
              reason(generation));
    }
  }

  private void refuseIfClosed() throws HttpErrorException {
    if (closed) {
      throw HttpErrorException.of(503, "ServiceUnavailable", "the server is closing");
    }
  }

  void close() {
    closed = true;
  }
}
