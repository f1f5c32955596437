package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

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
  CompletionStage<TimedVerdict> judge(Prompt prompt, String completion);

  /** {@link #judge}, for those who do not ask how long it took. */
  default CompletionStage<Verdict> verify(Prompt prompt, String completion) {
    return judge(prompt, completion).thenApply(TimedVerdict::verdict);
  }

  /** What has happened so far, one report a verifier. */
  List<PoolReport> reports();

  /** Its verifiers, one by one. */
  List<VerifierSlot> places();

  /**
   * Takes a verifier out of service: it gets no new completion, and the one that it is at is judged
   * by another.
   *
   * @param place its name, as {@link #places} tells
   * @return empty when that is done; otherwise why not, and nothing has changed
   */
  Optional<String> quarantine(String place);

  /**
   * Puts a verifier back into service.
   *
   * @param place its name, as {@link #places} tells
   * @return empty when that is done; otherwise why not, and nothing has changed
   */
  Optional<String> release(String place);

  /** What to say of a name that no verifier has. */
  static String noSuch(String place, List<VerifierSlot> known) {
    return "there is no verifier '%s'; there are %s"
        .formatted(
            place,
            known.stream().map(VerifierSlot::name).distinct().collect(Collectors.joining(", ")));
  }

  /** Ends all work and every process; open calls are answered as crashed. */
  @Override
  void close();
}
