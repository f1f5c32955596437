package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;

/**
 * A place whose verifier always returns by itself, because its time is linear in the completion's
 * length or because it ends what it waits for: it is called on the pool's own thread.
 */
record ThreadWorker(Verifier verifier) implements VerifierWorker {
  @Override
  public Verdict judge(Prompt prompt, String completion) {
    return verifier.verify(prompt, completion);
  }

  @Override
  public void abandon() {} // It returns by itself.

  @Override
  public void close() {}
}
