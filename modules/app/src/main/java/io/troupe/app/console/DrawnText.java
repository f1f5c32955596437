package io.troupe.app.console;

import io.troupe.base.failure.Causes;
import io.troupe.console.Chat;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.TokenListener;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.serve.TextTail;
import io.troupe.runtime.Tryout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A draw as text: the engine's thread puts tokens in, the reader's takes characters out. The engine
 * never waits for the reader, because what it puts in is bounded by the draw's own limit of tokens.
 */
final class DrawnText implements TokenListener {
  private sealed interface News {}

  private record Token(int id, long version) implements News {}

  private record Whole(Completion completion) implements News {}

  private record Broken(String reason) implements News {}

  private final BlockingQueue<News> news = new LinkedBlockingQueue<>();
  private final TextTail tail;
  private final int promptTokens;

  DrawnText(Tokenizer tokenizer, List<String> stops, int promptTokens) {
    this.tail = new TextTail(tokenizer, stops, false);
    this.promptTokens = promptTokens;
  }

  @Override
  public void drawn(int completion, int token, float logProb, WeightVersion version) {
    news.add(new Token(token, version.number()));
  }

  /** The draw that this hears, from now on to its end. */
  Chat.Draw follow(Tryout.Begun begun) {
    var _ =
        begun
            .end()
            .whenComplete(
                (completion, failure) ->
                    news.add(
                        failure == null ? new Whole(completion) : new Broken(reason(failure))));
    return new Chat.Draw() {
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
    return "the draw ended early: " + Causes.of(failure).getMessage();
  }

  private List<Chat.Piece> take(Duration patience) throws InterruptedException {
    News first = news.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    if (first == null) {
      return List.of();
    }
    List<News> all = new ArrayList<>(List.of(first));
    news.drainTo(all);
    List<Token> tokens =
        all.stream().filter(Token.class::isInstance).map(Token.class::cast).toList();
    News last = all.getLast();
    List<Chat.Piece> pieces = new ArrayList<>();
    String text = tail.add(tokens.stream().mapToInt(Token::id).toArray(), !(last instanceof Token));
    if (!text.isEmpty()) {
      pieces.add(new Chat.Said(text, version(all)));
    }
    switch (last) {
      case Token _ -> {}
      case Whole(Completion completion) -> pieces.add(ended(completion));
      case Broken(String reason) -> pieces.add(new Chat.Failed(reason));
    }
    return pieces;
  }

  /** Text that was held back may come with the end alone. */
  private static long version(List<News> all) {
    long version = 0;
    for (News one : all) {
      version =
          switch (one) {
            case Token(int _, long by) -> by;
            case Whole(Completion completion) -> completion.versions().newest().number();
            case Broken _ -> version;
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
