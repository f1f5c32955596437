package io.troupe.engine.http.fleet;

import java.time.Duration;
import java.util.Optional;

/**
 * What restarts for new weights cost: how many there were, how long the longest kept its server
 * from drawing, and how often there are new weights. Guarded by the fleet's books.
 */
final class RestartCosts {
  private long restarts;
  private Duration longest = Duration.ZERO;
  private Optional<Long> lastOffer = Optional.empty();
  private Optional<Duration> between = Optional.empty();

  /** There are new weights. */
  void offered(long nanos) {
    between = lastOffer.map(before -> Duration.ofNanos(nanos - before));
    lastOffer = Optional.of(nanos);
  }

  /**
   * A server was ended and serves again.
   *
   * @return the time between the last two versions of the weights, if the pause was longer
   */
  Optional<Duration> restarted(Duration pause) {
    restarts++;
    longest = pause.compareTo(longest) > 0 ? pause : longest;
    return between.filter(step -> pause.compareTo(step) > 0);
  }

  /** For the report; nothing without a restart. */
  String line() {
    return restarts == 0
        ? ""
        : " restarts=%d longest_pause=%.1fs".formatted(restarts, longest.toMillis() / 1e3);
  }
}
