package io.troupe.verifiers;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.io.IOException;

/**
 * Judges completions. A verifier is a function of its arguments and thread-safe. Its {@link
 * Isolation} says how a hostile completion that delays it is ended.
 */
@FunctionalInterface
public interface Verifier extends AutoCloseable {
  /**
   * Judges one completion of a prompt. Never throws for anything that a policy may write.
   *
   * @param completion the text after the prompt, without special tokens; may be empty
   * @return {@link Verdict.Unverifiable} only if the completion could not be judged: never in place
   *     of a low reward
   */
  Verdict verify(Prompt prompt, String completion);

  /**
   * Judges a completion that may continue a thought of its prompt. A verifier that reads the shape
   * of a thought overrides this; the others have no use for it.
   */
  default Verdict verify(Prompt prompt, JudgedText completion) {
    return verify(prompt, completion.text());
  }

  /** Loads everything that the first verification would otherwise load within its deadline. */
  default void prepare() {}

  /**
   * Fails if a server that the verifier needs cannot be reached. It judges nothing, and so costs
   * nothing.
   *
   * @throws IOException if it cannot; says why and what to do
   */
  default void reach() throws IOException {}

  /** Closes the resources of the verifier; most verifiers have none. */
  @Override
  default void close() {}
}
