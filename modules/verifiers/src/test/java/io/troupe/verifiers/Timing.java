package io.troupe.verifiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.Verdict;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Asserts that a verdict takes little work. Processor time, because other processes share the
 * machine; and of as many tries as fit in a few seconds of it the best, because the first ones are
 * interpreted and a guest may be charged for what its host does.
 */
public final class Timing {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final Duration TRIES = Duration.ofSeconds(5);

  private Timing() {}

  /** Of a million characters, where 2 ms are usual. */
  static void assertFast(Supplier<Verdict> check) {
    assertWithin(Duration.ofMillis(50), check);
  }

  /** Of anything; its verdict is a score, and the last one is given back. */
  public static Verdict.Scored assertWithin(Duration limit, Supplier<Verdict> check) {
    long best = Long.MAX_VALUE;
    long spent = 0;
    Verdict verdict;
    do {
      long start = THREADS.getCurrentThreadCpuTime();
      verdict = check.get();
      long took = THREADS.getCurrentThreadCpuTime() - start;
      best = Math.min(best, took);
      spent += took;
      assertThat(verdict).isInstanceOf(Verdict.Scored.class);
    } while (best >= limit.toNanos() && spent < TRIES.toNanos());
    assertThat(Duration.ofNanos(best)).isLessThan(limit);
    return (Verdict.Scored) verdict;
  }
}
