package io.troupe.run.console;

import io.troupe.base.failure.Causes;
import io.troupe.console.chat.Chat;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.IncrementalText;
import io.troupe.engine.TokenListener;
import io.troupe.engine.Tokenizer;
import io.troupe.runtime.AdHocSampling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A sampled answer as text: the engine's thread puts tokens in, the reader's takes characters out.
 * The engine never waits for the reader, because what it puts in is bounded by the answer's own
 * limit of tokens.
 */
final class SampledText implements TokenListener {
  private sealed interface Update {}

  private record Token(int id, long version) implements Update {}

  private record Finished(Completion completion) implements Update {}

  private record Failed(String reason) implements Update {}

  private final BlockingQueue<Update> updates = new LinkedBlockingQueue<>();
  private final IncrementalText tail;
  private final int promptTokens;

  SampledText(Tokenizer tokenizer, List<String> stops, int promptTokens) {
    this.tail = new IncrementalText(tokenizer, stops, false);
    this.promptTokens = promptTokens;
  }

  @Override
  public void sampled(int completion, int token, float logProb, WeightVersion version) {
    updates.add(new Token(token, version.number()));
  }

  /** The answer whose tokens this hears, from now on to its end. */
  Chat.Sampling follow(AdHocSampling.Sampling begun) {
    var _ =
        begun
            .end()
            .whenComplete(
                (completion, failure) ->
                    updates.add(
                        failure == null ? new Finished(completion) : new Failed(reason(failure))));
    return new Chat.Sampling() {
      @Override
      public List<Chat.Piece> next(Duration patience) throws InterruptedException {
        return take(patience);
      }

      @Override
      public void close() {
        begun.stop().run();
      }
    };
  }

  private static String reason(Throwable failure) {
    return "the sampling ended early: " + Causes.of(failure).getMessage();
  }

  private List<Chat.Piece> take(Duration patience) throws InterruptedException {
    Update first = updates.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    if (first == null) {
      return List.of();
    }
    List<Update> all = new ArrayList<>(List.of(first));
    updates.drainTo(all);
    List<Token> tokens =
        all.stream().filter(Token.class::isInstance).map(Token.class::cast).toList();
    Update last = all.getLast();
    List<Chat.Piece> pieces = new ArrayList<>();
    String text = tail.add(tokens.stream().mapToInt(Token::id).toArray(), !(last instanceof Token));
    if (!text.isEmpty()) {
      pieces.add(new Chat.Said(text, version(all)));
    }
    switch (last) {
      case Token _ -> {}
      case Finished(Completion completion) -> pieces.add(ended(completion));
      case Failed(String reason) -> pieces.add(new Chat.Failed(reason));
    }
    return pieces;
  }

  /** Text that was held back may come with the end alone. */
  private static long version(List<Update> all) {
    long version = 0;
    for (Update one : all) {
      version =
          switch (one) {
            case Token(int _, long by) -> by;
            case Finished(Completion completion) -> completion.versions().newest().number();
            case Failed _ -> version;
          };
    }
    return version;
  }

  private Chat.Ended ended(Completion completion) {
    return new Chat.Ended(
        completion.finishReason() == FinishReason.LENGTH ? "length" : "stop",
        completion.versions().newest().number(),
        promptTokens,
        completion.length());
  }
}
