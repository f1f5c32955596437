package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;

/** One place of a pool: judges one completion at a time, and always returns or throws. */
interface VerifierWorker extends AutoCloseable {
  /** Judges; returns within the deadline and the time it takes to end what hangs. */
  Verdict judge(Prompt prompt, String completion);

  /**
   * Ends the verification under way if that is possible, from any thread; its verdict is nobody's.
   * The next one is judged as ever.
   */
  void abandon();

  /** Ends it, also in the middle of a verification, from any thread. */
  @Override
  void close();
}
