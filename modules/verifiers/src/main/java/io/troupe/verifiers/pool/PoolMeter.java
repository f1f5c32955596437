package io.troupe.verifiers.pool;

import io.troupe.core.reward.Verdict;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;

/** Counts the work of a pool. Thread-safe. */
final class PoolMeter {
  private static final long LONGEST_MICROS = 3_600_000_000L;

  private final ConcurrentHistogram micros = new ConcurrentHistogram(LONGEST_MICROS, 2);
  private final AtomicInteger running = new AtomicInteger();
  private final LongAdder scored = new LongAdder();
  private final LongAdder timeouts = new LongAdder();
  private final LongAdder crashes = new LongAdder();
  private final LongAdder badInputs = new LongAdder();
  private final LongAdder restarts = new LongAdder();

  void started() {
    running.incrementAndGet();
  }

  void ended(Verdict verdict, long nanos) {
    running.decrementAndGet();
    micros.recordValue(Math.clamp(nanos / 1000, 0, LONGEST_MICROS));
    count(verdict);
  }

  /** Counts a verification whose outcome is discarded. */
  void abandoned() {
    running.decrementAndGet();
  }

  /** Counts a verification that never reached a worker. */
  void count(Verdict verdict) {
    switch (verdict) {
      case Verdict.Scored _ -> scored.increment();
      case Verdict.Unverifiable(Verdict.Cause cause, String _) -> {
        switch (cause) {
          case TIMEOUT -> timeouts.increment();
          case CRASH, AWAY -> crashes.increment();
          case BAD_INPUT -> badInputs.increment();
        }
      }
    }
  }

  void restarted() {
    restarts.increment();
  }

  PoolReport report(String verifier, int waiting, boolean quarantined) {
    return new PoolReport(
        verifier,
        waiting,
        running.get(),
        scored.sum(),
        timeouts.sum(),
        crashes.sum(),
        badInputs.sum(),
        restarts.sum(),
        micros.getValueAtPercentile(50) / 1000.0,
        micros.getValueAtPercentile(99) / 1000.0,
        micros.getMaxValue() / 1000.0,
        quarantined);
  }
}
