package io.troupe.core.prompt;

import java.util.regex.Pattern;

/**
 * Whether a prompt ends inside a thought, so that a completion begins there and the first {@code
 * </think>} of the completion ends it.
 */
public final class OpenThought {
  /** The text that begins a thought. */
  public static final String OPEN = "<think>";

  /** The text that ends a thought. */
  public static final String CLOSE = "</think>";

  /*
   * A question may speak of <think>. What a chat template or an assistant prefix opens stands at
   * the beginning of a line or behind another token, and no turn begins between it and the end.
   */
  private static final Pattern TURN =
      Pattern.compile("<[|｜]|\\[/?INST\\]|</s>|<(?:start|end)_of_turn>");

  private OpenThought() {}

  /**
   * Returns whether a prompt ends inside a thought: its last {@code <think>} is the end of the
   * prompt but for blanks, or begins the words that the prompt has of the answer.
   *
   * @param prompt as the policy reads it, templates and the assistant's first words applied
   */
  public static boolean endsInside(String prompt) {
    int at = prompt.lastIndexOf(OPEN);
    if (at < 0 || prompt.indexOf(CLOSE, at) >= 0) {
      return false;
    }
    String begun = prompt.substring(at + OPEN.length());
    boolean first = at == 0 || prompt.charAt(at - 1) == '\n' || prompt.charAt(at - 1) == '>';
    return begun.isBlank() || (first && !TURN.matcher(begun).find());
  }
}
