package io.troupe.core.outage;

/**
 * A circuit breaker: the place behind it gets no work while it is open, but for a probe once its
 * pause is over. It opens again with twice the pause when the probe fails, or when it was closed
 * for less than the longest pause; so neither an outage nor one that comes and goes costs more than
 * a few probes a minute. Times are of the coordinator's monotonic clock.
 *
 * @param failures in a row since the last success
 * @param open whether it holds work back
 * @param pauseMillis the pause of the last opening; 0 before the first
 * @param untilMillis end of that pause
 */
public record CircuitBreaker(int failures, boolean open, long pauseMillis, long untilMillis) {
  /** A breaker without failures. */
  public static final CircuitBreaker CLOSED = new CircuitBreaker(0, false, 0, 0);

  /**
   * Whether the breaker may open: it has not opened yet, or the probe that it let through has
   * failed.
   */
  public boolean mayOpen(long now) {
    return pauseMillis == 0 || now >= untilMillis;
  }

  /** Whether a probe may start. */
  public boolean probes(long now) {
    return open && now >= untilMillis;
  }

  /** The pause of an opening at a time. */
  public long nextPause(long now, OutageLimits limits) {
    boolean again = open || (pauseMillis > 0 && now < untilMillis + limits.longestPauseMillis());
    return again
        ? Math.min(2 * pauseMillis, limits.longestPauseMillis())
        : limits.firstPauseMillis();
  }

  CircuitBreaker failed() {
    return new CircuitBreaker(failures + 1, open, pauseMillis, untilMillis);
  }

  CircuitBreaker opened(long at, long until) {
    return new CircuitBreaker(failures, true, until - at, until);
  }

  CircuitBreaker worked() {
    return new CircuitBreaker(0, open, pauseMillis, untilMillis);
  }

  CircuitBreaker closed() {
    return new CircuitBreaker(0, false, pauseMillis, untilMillis);
  }
}
