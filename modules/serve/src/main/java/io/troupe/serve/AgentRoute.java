package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.completion.Completion;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.RefusedTurnException;
import io.troupe.gateway.TurnExchange;
import io.troupe.gateway.dialog.SessionBook;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnStart;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import io.troupe.serve.completion.AskedTurn;
import io.troupe.serve.completion.CompletionRequestReader;
import io.troupe.serve.completion.SamplingJob;
import io.troupe.serve.completion.TokenStream;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedAdapters;
import io.troupe.serve.model.ServedModel;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers agents: chat completions with tools, OpenAI's responses and Anthropic's messages, by the
 * code that answers them in a run. The server keeps no sessions; sampling settings are the
 * request's own, and a repeated request is sampled again.
 */
final class AgentRoute {
  private static final Duration GATHER = Duration.ofMillis(20);

  private final ServedModel served;
  private final ServedAdapters adapters;
  private final ServedTurns turns;
  private final RequestTable table;
  private final ServerCounters counters;
  private final AtomicInteger numbers = new AtomicInteger();
  private final SecureRandom seeds = new SecureRandom();

  AgentRoute(
      ServedModel served,
      ServedAdapters adapters,
      ServedTurns turns,
      RequestTable table,
      ServerCounters counters) {
    this.served = served;
    this.adapters = adapters;
    this.turns = turns;
    this.table = table;
    this.counters = counters;
  }

  /** Whether a body of chat completions offers tools, which {@link CompletionsRoute} does not. */
  static boolean takes(JsonNode body) {
    return !body.path("tools").isEmpty() && !body.path("tool_choice").asText().equals("none");
  }

  /** Counts the tokens that the policy would be asked with. */
  void count(TurnExchange exchange, JsonNode body) throws IOException, RefusedTurnException {
    int tokens = turns.ask(exchange, body, RequestReader.SERVER_WITH_TOOLS).ids().length;
    exchange.reply(200, JsonFields.object().put("input_tokens", tokens));
  }

  /** Samples one answer. */
  void answer(TurnExchange exchange, JsonNode body)
      throws IOException, InterruptedException, RefusedTurnException, HttpErrorException {
    AskedTurn turn = turns.ask(exchange, body, RequestReader.SERVER_WITH_TOOLS);
    Optional<Refusal> overflow = turns.codec().overflow(turn.ids());
    if (overflow.isPresent()) {
      throw new RefusedTurnException(overflow.get());
    }
    CompletionRequestReader reader =
        new CompletionRequestReader(served, adapters.names(), () -> seeds.nextLong() >>> 1);
    SamplingJob job = reader.turn(body, turn);
    try (ServedAdapters.AdapterUse use = adapters.use(reader.sampler(turn.request()), served)) {
      RequestTable.ActiveRequest entry = table.start(job, use.engine());
      try {
        TokenStream tokens = entry.generation();
        AwaitedTokens awaited = new AwaitedTokens(tokens, turn);
        boolean answered = exchange.send(awaited.reply(), turn.request());
        (answered ? counters.served() : counters.failed()).incrementAndGet();
        counters.promptTokens().addAndGet(turn.ids().length);
      } catch (IOException gone) {
        counters.disconnected().incrementAndGet();
        throw gone;
      } finally {
        table.finish(entry);
      }
    }
  }

  /** An answer that an engine samples. */
  private final class AwaitedTokens implements TurnExchange.ReplySource {
    private final TokenStream tokens;
    private final AskedTurn asked;
    private final TurnStart start;

    AwaitedTokens(TokenStream tokens, AskedTurn asked) {
      this.tokens = tokens;
      this.asked = asked;
      this.start = TurnStart.now(numbers.getAndIncrement(), asked.ids().length);
    }

    TurnExchange.AwaitedReply reply() {
      return new TurnExchange.AwaitedReply(() -> start, turns.codec(), this);
    }

    @Override
    public TurnExchange.Progress within(int from, Duration patience)
        throws InterruptedException, RefusedTurnException {
      int[] more = asked.request().stream() ? taken(patience) : new int[0];
      boolean done = asked.request().stream() ? tokens.done() : tokens.awaitDone(patience);
      return new TurnExchange.Progress(more, done ? Optional.of(whole()) : Optional.empty());
    }

    private int[] taken(Duration patience) throws InterruptedException {
      return tokens.take(patience, GATHER).stream()
          .flatMapToInt(delta -> Arrays.stream(delta.tokens()))
          .toArray();
    }

    private TurnReply whole() throws RefusedTurnException {
      if (tokens.failure().isPresent()) {
        Throwable failure = tokens.failure().get();
        throw new RefusedTurnException(
            failure instanceof IllegalArgumentException ? 400 : 500,
            "engine_failed",
            JsonFields.excerpt(String.valueOf(failure.getMessage())));
      }
      List<Completion> sampled = tokens.completions(0);
      if (sampled.isEmpty()) {
        throw new RefusedTurnException(503, "aborted", "the request was aborted; ask again");
      }
      return AgentRoute.this.reply(asked, start, sampled.getFirst());
    }
  }

  private TurnReply reply(AskedTurn asked, TurnStart start, Completion completion) {
    counters.generatedTokens().addAndGet(completion.length());
    SessionBook.SampledTurn kept = turns.keep(asked, completion);
    return turns.codec().reply(start, kept.answer(), asked.request(), completion);
  }
}
