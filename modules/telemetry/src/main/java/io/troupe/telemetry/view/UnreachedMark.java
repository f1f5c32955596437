package io.troupe.telemetry.view;

import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.run.Event;
import java.util.Optional;

/**
 * Looks whether graded rewards of a run's first steps stay below the mark, so that nothing passes.
 *
 * <p>Not safe for use by several threads.
 */
public final class UnreachedMark {
  private static final int STEPS = 3;

  private PassMark mark = PassMark.FULL;
  private double lowest = Double.POSITIVE_INFINITY;
  private double highest = Double.NEGATIVE_INFINITY;
  private int steps;

  /** Takes note of an event; returns what a user should know, after the last of these steps. */
  public Optional<String> event(Event event) {
    switch (event) {
      case Event.GroupBuffered(GroupSummary summary) -> scored(summary);
      case Event.GroupFiltered(GroupSummary summary) -> scored(summary);
      case Event.StepTrained _ -> steps++;
      default -> {}
    }
    return event instanceof Event.StepTrained && steps == STEPS
        ? mark.unreached(lowest, highest)
        : Optional.empty();
  }

  private void scored(GroupSummary summary) {
    mark = summary.mark();
    for (double reward : summary.rewards()) {
      lowest = Math.min(lowest, reward);
      highest = Math.max(highest, reward);
    }
  }
}
