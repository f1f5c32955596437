package io.troupe.verifiers;

/**
 * A text that a verifier judges.
 *
 * @param text a completion, or what is behind its thought: {@link ThoughtReading}
 * @param thoughtOpen whether the prompt ends inside a thought that the text continues; never where
 *     the thought is left out
 * @param tagged whether the text was in {@code <answer>…</answer>}, so that all of it is the answer
 */
public record JudgedText(String text, boolean thoughtOpen, boolean tagged) {
  /** A text without tags. */
  public JudgedText(String text, boolean thoughtOpen) {
    this(text, thoughtOpen, false);
  }

  /** A text that continues no thought. */
  public static JudgedText of(String text) {
    return new JudgedText(text, false);
  }
}
