package io.troupe.testkit;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Asserts that a calculation takes little processor time, because other processes share the
 * machine; and of as many tries as fit in a few seconds of it the best, because the first ones are
 * interpreted and a guest may be charged for what its host does.
 */
public final class CpuTimeLimit {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final Duration TRIES = Duration.ofSeconds(5);

  private CpuTimeLimit() {}

  /** The result of the last try. */
  public static <T> T assertWithin(Duration limit, Supplier<T> calculation) {
    long best = Long.MAX_VALUE;
    long spent = 0;
    T result;
    do {
      long start = THREADS.getCurrentThreadCpuTime();
      result = calculation.get();
      long took = THREADS.getCurrentThreadCpuTime() - start;
      best = Math.min(best, took);
      spent += took;
    } while (best >= limit.toNanos() && spent < TRIES.toNanos());
    if (best >= limit.toNanos()) {
      throw new AssertionError(
          "took %s of processor time at best, which is not less than %s"
              .formatted(Duration.ofNanos(best), limit));
    }
    return result;
  }
}
