package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import io.troupe.verifiers.Verifier;

/**
 * A worker whose verifier always returns, because its time is linear in the completion's length or
 * because it ends what it waits for: the pool's own thread calls it.
 */
record ThreadWorker(Verifier verifier) implements VerifierWorker {
  @Override
  public Verdict judge(Prompt prompt, JudgedText completion) {
    return verifier.verify(prompt, completion);
  }

  @Override
  public void abandon() {} // the verifier returns by itself

  @Override
  public void close() {}
}
