package io.troupe.sync;

/**
 * Bounds how much is sent: after each request, the time that its bytes may take must have passed
 * before the next one.
 *
 * @param bytesPerSecond 0 for no bound
 * @param freeAt time at which the next request may begin, in nanoseconds of the caller's clock
 */
record Pace(long bytesPerSecond, long freeAt) {
  private static final double NANOS = 1e9;

  /** The pace after a request that began at a time. */
  Pace sent(long begun, long bytes) {
    return bytesPerSecond == 0 || bytes <= 0
        ? this
        : new Pace(
            bytesPerSecond, Math.max(freeAt, begun) + (long) (bytes * NANOS / bytesPerSecond));
  }

  /** Returns the next pause, in nanoseconds. */
  long pauseNanos(long now) {
    return bytesPerSecond == 0 ? 0 : Math.max(0, freeAt - now);
  }
}
