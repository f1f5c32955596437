package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;

/**
 * Judges completions. A function of its arguments, safe to share between threads. What keeps a
 * hostile completion from holding it up is told by its {@link Isolation}.
 */
@FunctionalInterface
public interface Verifier extends AutoCloseable {
  /**
   * What a completion of a prompt is worth. Never throws for what a policy may write.
   *
   * @param completion the text behind the prompt's, without special tokens; may be empty
   * @return {@link Verdict.Unverifiable} only if the completion could not be judged: never in place
   *     of a low reward
   */
  Verdict verify(Prompt prompt, String completion);

  /** Loads what the first verification would otherwise load within its deadline. */
  default void prepare() {}

  /** Ends what the verifier keeps open; most keep nothing. */
  @Override
  default void close() {}
}
