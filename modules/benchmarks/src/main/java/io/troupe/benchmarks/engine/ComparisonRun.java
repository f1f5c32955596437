package io.troupe.benchmarks.engine;

import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.benchmarks.harness.PerformancePage;
import io.troupe.benchmarks.harness.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A run of comparisons with PyTorch: it measures, prints a table, and writes it where it is asked
 * to.
 *
 * @param command name of the benchmark on the command line
 * @param python interpreter of the other side
 * @param threads of PyTorch, on either side
 * @param rounds pairs of bursts of each measurement
 */
record ComparisonRun(String command, String python, int threads, int rounds) {
  private static final int MISSED = 4;

  /**
   * Runs comparisons.
   *
   * @param comparisons by the name of their section of docs/performance.md
   * @param json gets the results
   * @param update whether the tables are written into docs/performance.md
   * @return the exit code
   */
  int run(Map<String, PyTorchComparison> comparisons, ResultFile json, boolean update)
      throws IOException, InterruptedException {
    Path scratch = Files.createTempDirectory("troupe-bench");
    Map<String, List<PairedMeasurement>> results = new LinkedHashMap<>();
    try (PythonPeer peer = PythonPeer.start(python, threads)) {
      System.err.println(peer.describe());
      for (Map.Entry<String, PyTorchComparison> part : comparisons.entrySet()) {
        results.put(
            part.getKey(),
            part.getValue().run(new PyTorchComparison.Setting(threads, rounds, peer, scratch)));
      }
      results.values().forEach(ComparisonRun::report);
      json.write(Map.of("pytorch", peer.describe(), "measurements", rows(results)));
      if (update) {
        for (Map.Entry<String, List<PairedMeasurement>> part : results.entrySet()) {
          PerformancePage.update(command + " " + part.getKey(), intro(peer), part.getValue());
        }
      }
    } finally {
      FileTree.delete(scratch);
    }
    return results.values().stream().flatMap(List::stream).allMatch(PairedMeasurement::ok)
        ? 0
        : MISSED;
  }

  private String intro(PythonPeer peer) {
    return "%s, `troupe bench %s --rounds %d --threads %d`: ours on libtorch through DJL; %s."
        .formatted(LocalDate.now(ZoneOffset.UTC), command, rounds, threads, peer.describe());
  }

  private static void report(List<PairedMeasurement> results) {
    System.out.printf(
        Locale.ROOT, "%-58s %11s %11s %7s %6s%n", "", "ours", "PyTorch", "ratio", "bar");
    for (PairedMeasurement result : results) {
      System.out.printf(
          Locale.ROOT,
          "%-58s %11s %11s %7s %6s  %s%n",
          result.name() + ", " + result.unit(),
          PerformancePage.number(result.ourMedian()),
          PerformancePage.number(result.theirMedian()),
          PerformancePage.number(result.ratio()),
          PerformancePage.bar(result),
          result.ok() ? "ok" : "MISSED");
    }
  }

  private static List<Map<String, Object>> rows(Map<String, List<PairedMeasurement>> results) {
    return results.values().stream().flatMap(List::stream).map(PairedMeasurement::json).toList();
  }
}
