package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;

/**
 * A place whose verifier always returns by itself, because its time is linear in the completion's
 * length or because it ends what it waits for: it is called on the pool's own thread.
 */
record ThreadWorker(Verifier verifier) implements Worker {
  @Override
  public Verdict judge(Prompt prompt, String completion) {
    try {
      return verifier.verify(prompt, completion);
    } catch (RuntimeException | StackOverflowError defect) {
      // Expected of no verifier, and no reason to lose a worker or to call the completion wrong.
      return new Verdict.Unverifiable(Verdict.Cause.CRASH, "the verifier failed: " + defect);
    }
  }

  @Override
  public void abandon() {} // It returns by itself.

  @Override
  public void close() {}
}
