package io.troupe.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The processor time of the threads that serve the console of a run in this process and that read
 * it: those of the HTTP server and client, and the carriers of virtual threads, on which answers
 * are made. A run with an engine of its own has no other virtual threads that work.
 *
 * @param seconds by thread
 */
record ConsoleThreads(Map<Long, Double> seconds) {
  private static final List<String> NAMES =
      List.of("ForkJoinPool-1-worker", "HTTP-Dispatcher", "HttpClient-");
  private static final double NANOS = 1e9;

  ConsoleThreads {
    seconds = Map.copyOf(seconds);
  }

  /** As of now. */
  static ConsoleThreads now() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Map<Long, Double> seconds = new HashMap<>();
    for (ThreadInfo thread : threads.dumpAllThreads(false, false, 0)) {
      if (NAMES.stream().anyMatch(thread.getThreadName()::startsWith)) {
        long nanos = threads.getThreadCpuTime(thread.getThreadId());
        if (nanos > 0) { // -1: it ended meanwhile
          seconds.put(thread.getThreadId(), nanos / NANOS);
        }
      }
    }
    return new ConsoleThreads(seconds);
  }

  /** Processor seconds since an earlier moment. */
  double since(ConsoleThreads earlier) {
    return seconds.entrySet().stream()
        .mapToDouble(
            thread -> thread.getValue() - earlier.seconds.getOrDefault(thread.getKey(), 0.0))
        .sum();
  }
}
