package io.troupe.core.prompt;

import java.util.regex.Pattern;

/**
 * Whether a prompt ends inside a thought, so that a completion begins there. The thought has any of
 * the {@link ThoughtMarks}.
 */
public final class OpenThought {
  /*
   * A question may speak of <think>. What a chat template or an assistant prefix opens is at the
   * beginning of a line, behind another token, or a token itself, and no turn begins between it and
   * the end.
   */
  private static final Pattern TURN =
      Pattern.compile(
          "<[|｜]|<[a-z_]+\\|>|\\[/?INST\\]|\\[\\||</s>|<(?:start|end)_of_turn>|<seed:(?:bos|eos)>");

  private OpenThought() {}

  /**
   * Returns whether a prompt ends inside a thought: its last beginning of a thought is the end of
   * the prompt but for blanks, or begins the words that the prompt has of the answer.
   *
   * @param prompt as the policy reads it, templates and the assistant's first words applied
   */
  public static boolean endsInside(String prompt) {
    int at = ThoughtMarks.lastBeginning(prompt);
    if (at < 0 || ThoughtMarks.behindLastEnd(prompt) > at) {
      return false;
    }
    String begun = ThoughtMarks.behindLastBeginning(prompt);
    boolean token = prompt.startsWith("<|", at);
    boolean first = token || at == 0 || "\n>]".indexOf(prompt.charAt(at - 1)) >= 0;
    return begun.isBlank() || (first && !TURN.matcher(begun).find());
  }
}
