package io.troupe.run.mailbox;

/**
 * The times for which messages of one type waited and took, in buckets a fifth apart. Written by
 * whichever thread runs the actor, one at a time, and read by others, who may see it a moment late.
 */
final class MessageTimings {
  private static final int BUCKETS = 4 * 48;

  private final long[] waits = new long[BUCKETS];
  private final long[] handlingTimes = new long[BUCKETS];
  private long count;

  void add(long waitNanos, long takeNanos) {
    waits[bucket(waitNanos)]++;
    handlingTimes[bucket(takeNanos)]++;
    count++;
  }

  long count() {
    return count;
  }

  long handlingMicros(double quantile) {
    return quantile(handlingTimes, quantile) / 1_000;
  }

  long waitMicros(double quantile) {
    return quantile(waits, quantile) / 1_000;
  }

  /** The two bits behind the leading one choose among four buckets an octave. */
  private static int bucket(long nanos) {
    long value = Math.max(4, nanos);
    int octave = 63 - Long.numberOfLeadingZeros(value);
    int quarter = (int) (value >>> (octave - 2)) & 3;
    return Math.min(BUCKETS - 1, 4 * (octave - 2) + quarter);
  }

  private static long quantile(long[] buckets, double quantile) {
    long all = 0;
    for (long bucket : buckets) {
      all += bucket;
    }
    long wanted = (long) Math.ceil(all * quantile);
    long seen = 0;
    for (int i = 0; i < buckets.length; i++) {
      seen += buckets[i];
      if (seen >= wanted && wanted > 0) {
        // The upper edge: at most so long.
        return (4L + i % 4 + 1) << (i / 4);
      }
    }
    return 0;
  }
}
