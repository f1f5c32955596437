package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;

/** One worker of a pool: judges one completion at a time, and always returns or throws. */
interface VerifierWorker extends AutoCloseable {
  /** Starts what the next verification needs; the time of a start is not that of a verification. */
  default void prepare() {}

  /**
   * Judges a completion; returns within the deadline plus the time to end a hanging verification.
   */
  Verdict judge(Prompt prompt, JudgedText completion);

  /**
   * Ends the current verification if that is possible, from any thread; its verdict is discarded.
   * The next verification is unaffected.
   */
  void abandon();

  /** Closes the worker from any thread, also during a verification. */
  @Override
  void close();
}
