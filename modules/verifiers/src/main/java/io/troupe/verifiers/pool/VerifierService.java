package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Verifies without making the caller wait. Every call is answered, in bounded time: what hangs is
 * ended, what crashes is replaced, and both are verdicts. May be called from any thread.
 */
public interface VerifierService extends AutoCloseable {
  /**
   * Judges one completion.
   *
   * @return never fails, but for {@link java.util.concurrent.RejectedExecutionException} when the
   *     service is closed or its queue is full
   */
  CompletionStage<Judgement> judge(Prompt prompt, String completion);

  /** {@link #judge}, for those who do not ask how long it took. */
  default CompletionStage<Verdict> verify(Prompt prompt, String completion) {
    return judge(prompt, completion).thenApply(Judgement::verdict);
  }

  /** What has happened so far, one report a verifier. */
  List<PoolReport> reports();

  /** Ends all work and every process; open calls are answered as crashed. */
  @Override
  void close();
}
