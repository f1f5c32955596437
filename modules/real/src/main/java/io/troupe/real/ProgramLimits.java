package io.troupe.real;

import java.time.Duration;

/**
 * What a program may use.
 *
 * @param time from its start to its end
 * @param memory bytes of the program and all that it has started, together
 */
record ProgramLimits(Duration time, long memory) {
  private static final long MEBIBYTE = 1 << 20;

  /** Returns these limits with less time, if less is left. */
  ProgramLimits within(Duration left) {
    return left.compareTo(time) < 0 ? new ProgramLimits(left, memory) : this;
  }

  /** Returns an amount of memory as text. */
  static String mebibytes(long bytes) {
    return "%d MiB".formatted(bytes / MEBIBYTE);
  }
}
