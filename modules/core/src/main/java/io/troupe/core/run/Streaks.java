package io.troupe.core.run;

import io.troupe.core.rollout.GroupSummary;

/**
 * Events in a row, by which the coordinator decides whether a run still makes progress.
 *
 * @param filtered groups filtered since one was last accepted
 * @param perfect groups filtered since one was last not right in every completion
 * @param skipped steps skipped, since one last moved the weights, because a number was not finite
 * @param empty steps skipped, since one last moved the weights, because no token had weight
 * @param givenUp groups given up since one was last judged
 * @param lastReason why the last such step was skipped, or the last such group given up
 */
public record Streaks(
    long filtered, long perfect, int skipped, long empty, long givenUp, String lastReason) {
  /** The streaks before the first event. */
  public static final Streaks NONE = new Streaks(0, 0, 0, 0, 0, "");

  Streaks accept() {
    return new Streaks(0, 0, skipped, empty, 0, lastReason);
  }

  Streaks filter(GroupSummary summary) {
    return new Streaks(
        filtered + 1, summary.perfect() ? perfect + 1 : 0, skipped, empty, 0, lastReason);
  }

  Streaks giveUp(String reason) {
    return new Streaks(filtered, 0, skipped, empty, givenUp + 1, reason);
  }

  Streaks skip(boolean nothingToLearn, String reason) {
    return nothingToLearn
        ? new Streaks(filtered, perfect, skipped, empty + 1, givenUp, reason)
        : new Streaks(filtered, perfect, skipped + 1, empty, givenUp, reason);
  }

  Streaks train() {
    return new Streaks(filtered, perfect, 0, 0, givenUp, lastReason);
  }
}
