package io.troupe.engine.http.fleet;

import java.time.Duration;
import java.util.Optional;

/**
 * The cost of restarts for new weights: how many there were, the longest time in which a restarting
 * server did not sample, and how often there are new weights. Guarded by the lock of {@link
 * FleetState}.
 */
final class RestartCosts {
  private long restarts;
  private Duration longest = Duration.ZERO;
  private Optional<Long> lastOffer = Optional.empty();
  private Optional<Duration> between = Optional.empty();

  /** Records that there are new weights. */
  void offered(long nanos) {
    between = lastOffer.map(before -> Duration.ofNanos(nanos - before));
    lastOffer = Optional.of(nanos);
  }

  /**
   * Records that a server was restarted and serves again.
   *
   * @return the time between the last two weight versions, if the restart took longer
   */
  Optional<Duration> restarted(Duration pause) {
    restarts++;
    longest = pause.compareTo(longest) > 0 ? pause : longest;
    return between.filter(step -> pause.compareTo(step) > 0);
  }

  /** A line for the report; empty without a restart. */
  String line() {
    return restarts == 0
        ? ""
        : " restarts=%d longest_pause=%.1fs".formatted(restarts, longest.toMillis() / 1e3);
  }
}
