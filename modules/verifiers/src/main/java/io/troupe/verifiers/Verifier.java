package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;

/**
 * Judges completions. A pure function of its arguments, safe to share between threads, and fast
 * whatever the completion holds: its time is linear in the completion's length.
 */
@FunctionalInterface
public interface Verifier {
  /**
   * What a completion of a prompt is worth. Never throws for what a policy may write.
   *
   * @param completion the text behind the prompt's, without special tokens; may be empty
   * @return {@link Verdict.Unverifiable} only if the prompt's own answer is broken
   */
  Verdict verify(Prompt prompt, String completion);
}
