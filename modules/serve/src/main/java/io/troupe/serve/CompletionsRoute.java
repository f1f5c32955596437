package io.troupe.serve;

import io.troupe.core.loss.TeacherTokens;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Scorer;
import io.troupe.engine.protocol.JsonFields;
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
  private final RequestTable desk;
  private final ServerCounters counters;
  private final SecureRandom seeds = new SecureRandom();
  private volatile boolean closed;

  CompletionsRoute(
      ServedModel served,
      ServeSettings settings,
      ServedWeights weights,
      ServedAdapters adapters,
      RequestTable desk,
      ServerCounters counters) {
    this.served = served;
    this.settings = settings;
    this.weights = weights;
    this.adapters = adapters;
    this.desk = desk;
    this.counters = counters;
  }

  void answer(HttpReply reply, ControlRoutes.Body body, boolean chat)
      throws IOException, InterruptedException, HttpErrorException {
    if (counters.running().incrementAndGet() > settings.maxRequests()) {
      counters.running().decrementAndGet();
      throw HttpErrorException.of(
          429,
          "TooManyRequests",
          "%d requests are being answered, the most at a time; come back later"
              .formatted(settings.maxRequests()));
    }
    try {
      if (weights.current().isEmpty()) { // before the body, too
        throw HttpErrorException.of(503, "ServiceUnavailable", "no weights were loaded yet");
      }
      CompletionRequest ask =
          new CompletionRequestReader(served, adapters.names())
              .read(body.read(), chat, () -> seeds.nextLong() >>> 1);
      try (ServedAdapters.AdapterUse use = use(ask)) {
        sample(reply, ask, use.engine());
      }
    } finally {
      counters.running().decrementAndGet();
    }
  }

  private ServedAdapters.AdapterUse use(CompletionRequest ask) throws HttpErrorException {
    if (ask.model().equals(served.model())) {
      return new ServedAdapters.AdapterUse(served.engine(), () -> {});
    }
    if (ask.scorePrompt()) {
      throw HttpErrorException.bad(
          "prompt_logprobs", "prompt_logprobs are of `%s` alone".formatted(served.model()));
    }
    return adapters
        .use(ask.model())
        .orElseThrow(
            () ->
                HttpErrorException.of(
                    404, "NotFoundError", "the model `%s` was unloaded".formatted(ask.model())));
  }

  private void sample(HttpReply reply, CompletionRequest ask, SamplingEngine engine)
      throws IOException, InterruptedException, HttpErrorException {
    List<Scorer.Scores> scores = scores(ask);
    LongFunction<String> tags =
        ask.model().equals(served.model()) ? weights::tag : _ -> weights.currentTag();
    CompletionWriter answers =
        new CompletionWriter(ask, served, System.currentTimeMillis() / 1000, tags);
    if (ask.scoreOnly()) {
      reply.json(200, answers.scores(scores));
      counters.served().incrementAndGet();
      counters.promptTokens().addAndGet(ask.promptTokens());
      return;
    }
    RequestTable.ActiveRequest entry = desk.start(ask, engine);
    try {
      if (ask.stream()) {
        stream(reply, ask, answers, entry.generation());
      } else {
        whole(reply, answers, entry.generation(), scores);
      }
      boolean failed = entry.generation().failure().isPresent(); // of a stream, after 200
      (failed ? counters.failed() : counters.served()).incrementAndGet();
      counters.promptTokens().addAndGet(ask.promptTokens());
    } catch (IOException gone) {
      counters.disconnected().incrementAndGet();
      throw gone;
    } finally {
      counters.generatedTokens().addAndGet(answers.tokens());
      desk.finish(entry);
    }
  }

  private List<Scorer.Scores> scores(CompletionRequest ask) throws HttpErrorException {
    List<Scorer.Scores> scores = new ArrayList<>();
    if (!ask.scorePrompt()) {
      return scores;
    }
    if (ask.stream()) {
      throw HttpErrorException.bad(
          "prompt_logprobs", "prompt_logprobs and stream do not go together");
    }
    try {
      for (int[] prompt : ask.prompts()) {
        scores.add(prompt.length < 2 ? NO_SCORES : served.scorer().score(prompt, ask.likeliest()));
      }
    } catch (UnsupportedOperationException | IllegalArgumentException cannot) {
      throw HttpErrorException.bad("prompt_logprobs", String.valueOf(cannot.getMessage()));
    }
    return scores;
  }

  private void whole(
      HttpReply reply, CompletionWriter answers, TokenStream generation, List<Scorer.Scores> scores)
      throws IOException, InterruptedException, HttpErrorException {
    while (!generation.awaitDone(LOOK)) {
      refuseIfClosed();
    }
    refuseIfFailed(generation);
    reply.json(200, answers.whole(generation.take(Duration.ZERO, Duration.ZERO), scores));
  }

  /** The status is sent with the first token, so that a request that is refused has its own. */
  private void stream(
      HttpReply reply, CompletionRequest ask, CompletionWriter answers, TokenStream generation)
      throws IOException, InterruptedException, HttpErrorException {
    boolean begun = false;
    boolean ended = false;
    while (!ended) {
      ended = generation.done(); // before the look: what is done then has no news after it
      List<TokenDelta> deltas =
          generation.take(
              ended ? Duration.ZERO : settings.ping(), ended ? Duration.ZERO : ask.interval());
      if (!begun) {
        refuseIfFailed(generation);
        reply.stream();
        begun = true;
      }
      if (generation.failure().isPresent() || closed) {
        reply.event(HttpErrorException.of(500, "InternalServerError", reason(generation)).json());
        reply.done();
        return;
      }
      if (!deltas.isEmpty() && ended) {
        reply.last(answers.chunk(deltas));
      } else if (!deltas.isEmpty()) {
        reply.event(answers.chunk(deltas));
      } else if (!ended) {
        reply.ping();
      }
    }
    if (ask.usage()) {
      reply.event(answers.counts());
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
