package io.troupe.core;

/** A length of time in words, in the largest unit of which it has two or more. */
public final class TimeText {
  private static final long SECOND = 1_000;
  private static final long MINUTE = 60 * SECOND;

  private TimeText() {}

  /** A time of whole minutes, seconds or milliseconds; a smaller rest is dropped. */
  public static String of(long millis) {
    if (millis >= 2 * MINUTE) {
      return millis / MINUTE + " min";
    }
    return millis >= 2 * SECOND ? millis / SECOND + " s" : millis + " ms";
  }
}
