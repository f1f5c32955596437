package io.troupe.console.chat;

import java.time.Duration;
import java.util.List;

/** The newest policy of a run, to be tried out. Safe to share between threads. */
public interface Chat {
  /** Whether the policy answers, and what may be asked. */
  sealed interface Offer {}

  /**
   * The policy answers.
   *
   * @param contextLength most tokens of prompt and answer together
   * @param template whether a prompt can be put as a chat message
   * @param temperature of the run's rollouts
   * @param maxTokens of the run's rollouts
   * @param mostTokens most that may be asked for
   * @param example a prompt that the run does not train on, or empty
   */
  record Open(
      int contextLength,
      boolean template,
      double temperature,
      int maxTokens,
      int mostTokens,
      String example)
      implements Offer {}

  /**
   * The policy does not answer here.
   *
   * @param closed why, and what to do instead
   */
  record Closed(String closed) implements Offer {}

  /** The result of a question. */
  sealed interface Begin {}

  /** The answer is being sampled. */
  record Begun(Sampling draw) implements Begin {}

  /** The question is not answered. */
  record Refused(Why why, String sentence) implements Begin {}

  /** Kinds of refusal. */
  enum Why {
    /** The question does not suit the policy. */
    UNFIT,
    /** Another request is being answered. */
    BUSY,
    /** The chat answers no request now. */
    NOT_NOW,
    /** The chat never answers a request in this process. */
    NOT_HERE
  }

  /** A part of an answer. */
  sealed interface Piece {}

  /**
   * More of its text.
   *
   * @param text whole characters, of unknown intent
   * @param version number of the weights that sampled it
   */
  record Said(String text, long version) implements Piece {}

  /**
   * The answer is whole.
   *
   * @param finish {@code stop}, or {@code length} where the limit cut it
   * @param version number of the weights that sampled its last token
   */
  record Ended(String finish, long version, int promptTokens, int tokens) implements Piece {}

  /** The answer ends here, because of a failure. */
  record Failed(String error) implements Piece {}

  /** An answer while it is sampled; used by one thread. */
  interface Sampling extends AutoCloseable {
    /**
     * Returns the new pieces, in order. After {@link Ended} or {@link Failed} there is nothing.
     *
     * @param patience longest wait for a piece
     * @return empty if nothing was new in time
     */
    List<Piece> next(Duration patience) throws InterruptedException;

    /** Samples no more of it. */
    @Override
    void close();
  }

  /** Whether the policy answers, and what may be asked. */
  Offer offer();

  /** Begins an answer. */
  Begin begin(ChatRequest ask);

  /**
   * Returns a chat that answers no request.
   *
   * @param why in a sentence, with what to do instead
   */
  static Chat closed(String why) {
    return new Chat() {
      @Override
      public Offer offer() {
        return new Closed(why);
      }

      @Override
      public Begin begin(ChatRequest ask) {
        return new Refused(Why.NOT_HERE, why);
      }
    };
  }
}
