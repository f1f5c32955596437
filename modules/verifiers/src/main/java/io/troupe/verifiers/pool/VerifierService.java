package io.troupe.verifiers.pool;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * Verifies asynchronously. Every call is answered in bounded time: a hanging verifier is ended, a
 * crashed one is replaced, and both are verdicts. Thread-safe.
 */
public interface VerifierService extends AutoCloseable {
  /**
   * Judges one completion.
   *
   * @return fails only with {@link java.util.concurrent.RejectedExecutionException}, when the
   *     service is closed or its queue is full
   */
  CompletionStage<TimedVerdict> judge(Prompt prompt, String completion);

  /** Judges one episode, by its answer unless the service says otherwise. */
  default CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode) {
    return judge(prompt, episode.answer());
  }

  /** {@link #judge} without the time of the verification. */
  default CompletionStage<Verdict> verify(Prompt prompt, String completion) {
    return judge(prompt, completion).thenApply(TimedVerdict::verdict);
  }

  /** {@link #judge} without the time of the verification. */
  default CompletionStage<Verdict> verify(Prompt prompt, EpisodeText episode) {
    return judge(prompt, episode).thenApply(TimedVerdict::verdict);
  }

  /** The counts so far, one report for each verifier. */
  List<PoolReport> reports();

  /** The verifiers of this service, one slot each. */
  List<VerifierSlot> places();

  /**
   * Takes a verifier out of service: it gets no new completion, and another verifier judges its
   * current one.
   *
   * @param place name of the place in {@link #places}
   * @return empty on success; otherwise why nothing has changed
   */
  Optional<String> quarantine(String place);

  /**
   * Returns a verifier to service.
   *
   * @param place name of the place in {@link #places}
   * @return empty on success; otherwise why nothing has changed
   */
  Optional<String> release(String place);

  /** The message for a name that no verifier has. */
  static String noSuch(String place, List<VerifierSlot> known) {
    return "there is no verifier '%s'; there are %s"
        .formatted(
            place,
            known.stream().map(VerifierSlot::name).distinct().collect(Collectors.joining(", ")));
  }

  /** Ends all work and every process; calls in flight are answered as crashed. */
  @Override
  void close();
}
