package io.troupe.benchmarks.console;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The CPU time of the threads that serve the console of a run in a process: the HTTP server's, and
 * the carriers of virtual threads, on which answers are made. A run with an engine of its own has
 * no other virtual threads that work. Linux reports it in {@code /proc/PID/task}.
 *
 * @param seconds by thread
 */
record ConsoleCpuTime(Map<String, Double> seconds) {
  /** Names of threads as the kernel has them: 15 characters at most. */
  private static final Pattern NAME = Pattern.compile("ForkJoinPool-\\d+-.*|HTTP-Dispatcher");

  private static final double NANOS = 1e9;

  ConsoleCpuTime {
    seconds = Map.copyOf(seconds);
  }

  /**
   * Reads the CPU times of a process.
   *
   * @throws IOException if the kernel does not report it
   */
  static ConsoleCpuTime of(long pid) throws IOException {
    Map<String, Double> seconds = new HashMap<>();
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
      for (Path thread : threads.toList()) {
        try {
          if (NAME.matcher(Files.readString(thread.resolve("comm")).strip()).matches()) {
            String[] times = Files.readString(thread.resolve("schedstat")).split(" ", -1);
            seconds.put(thread.getFileName().toString(), Long.parseLong(times[0]) / NANOS);
          }
        } catch (IOException ended) {
          // A thread that has ended meanwhile reports no more.
        }
      }
    }
    return new ConsoleCpuTime(seconds);
  }

  /** Processor seconds since an earlier moment. */
  double since(ConsoleCpuTime earlier) {
    return seconds.entrySet().stream()
        .mapToDouble(
            thread -> thread.getValue() - earlier.seconds.getOrDefault(thread.getKey(), 0.0))
        .sum();
  }
}
