package io.troupe.aws.interruption;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * EC2 will take a spot instance back. Source: <a
 * href="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html">
 * Spot Instance interruption notices</a>.
 *
 * @param action {@code terminate}, {@code stop} or {@code hibernate}
 * @param at time of the action, usually two minutes after the notice
 */
public record InterruptionNotice(String action, Instant at) {
  /** Kept for the end of processes that did not end by themselves. */
  private static final Duration MARGIN = Duration.ofSeconds(10);

  /** Time in which a host can drain: 1 s if the action is due. */
  public Duration left(Instant now) {
    Duration left = Duration.between(now, at).minus(MARGIN);
    return left.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : left;
  }

  /** The notice in words, as "EC2 takes this spot instance back (terminate) at …". */
  public String text(Instant now) {
    return "EC2 takes this spot instance back (%s) at %s, in %d s"
        .formatted(
            action,
            at.truncatedTo(ChronoUnit.SECONDS),
            Math.max(0, Duration.between(now, at).toSeconds()));
  }
}
