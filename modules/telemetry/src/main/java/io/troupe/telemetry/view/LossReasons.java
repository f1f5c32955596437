package io.troupe.telemetry.view;

import io.troupe.core.run.GroupEvent.Requeued;
import io.troupe.core.run.group.LeaseEndReason;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The groups that wait to be sampled again, by reason. Those are lost whose worker, engine,
 * environment or verifier did not do its part, or not in time; that a group became too stale or was
 * cancelled is part of the plan.
 *
 * <p>Not safe for use by several threads.
 */
public final class LossReasons {
  private final ReasonCounts losses = new ReasonCounts();
  private final ReasonCounts planned = new ReasonCounts();

  /**
   * Counts the reason of an event.
   *
   * @return a sentence at the first, tenth, hundredth … loss by one reason, so that a run that
   *     loses a group a step does not fill the screen; otherwise empty
   */
  public Optional<String> requeued(Requeued event) {
    LeaseEndReason reason = event.reason();
    String word = reason.word().replace('_', ' ');
    if (reason == LeaseEndReason.STALE || reason == LeaseEndReason.CANCELLED) {
      var _ = planned.add(word);
      return Optional.empty();
    }
    String cause = word + (event.detail().isEmpty() ? "" : ": " + event.detail());
    ReasonCounts.Counted loss = losses.add(cause);
    return loss.times() == 1
        ? Optional.of("a group was lost, " + loss.reason())
        : isPowerOfTen(loss.times())
            ? Optional.of("%,d groups were lost so far, %s".formatted(loss.times(), loss.reason()))
            : Optional.empty();
  }

  /** Whether a count is 10, 100, 1000 …: what is said at these does not fill a screen. */
  public static boolean isPowerOfTen(long times) {
    return String.valueOf(times).matches("10+");
  }

  /** Returns the counts of all reasons, those of losses first. */
  Map<String, Long> asMap() {
    Map<String, Long> all = losses.asMap();
    all.putAll(planned.asMap());
    return all;
  }

  /**
   * Returns the reasons of losses in a line, the most frequent first; empty if no group was lost.
   */
  public Optional<String> sentence() {
    Map<String, Long> all = losses.asMap();
    long groups = all.values().stream().mapToLong(Long::longValue).sum();
    return groups == 0
        ? Optional.empty()
        : Optional.of(
            "%,d %s: %s"
                .formatted(
                    groups,
                    groups == 1 ? "group" : "groups",
                    all.entrySet().stream()
                        .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()))
                        .map(each -> "%,d %s".formatted(each.getValue(), each.getKey()))
                        .collect(Collectors.joining("; "))));
  }
}
