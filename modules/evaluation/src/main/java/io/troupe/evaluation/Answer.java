package io.troupe.evaluation;

/**
 * One sampled completion as a verifier reads it.
 *
 * @param text up to the first stop string
 * @param tokens sampled, the stop token included
 * @param finish {@value #STOP} or {@value #LENGTH}, as OpenAI's interface has it
 */
public record Answer(String text, int tokens, String finish) {
  /** The policy ended the completion. */
  static final String STOP = "stop";

  /** The limit of tokens ended it. */
  static final String LENGTH = "length";

  boolean truncated() {
    return finish.equals(LENGTH);
  }
}
