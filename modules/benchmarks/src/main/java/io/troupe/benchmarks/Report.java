package io.troupe.benchmarks;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a benchmark tells what it measured. */
final class Report {
  private Report() {}

  /**
   * Prints a line for each measurement.
   *
   * @param line format of name, value, unit and whether the bar is met (empty without one)
   */
  static void print(String line, List<Measurement> results) {
    for (Measurement result : results) {
      System.out.printf(
          Locale.ROOT,
          line,
          result.name(),
          result.value(),
          result.unit(),
          Double.isNaN(result.bar()) ? "" : result.ok() ? "ok" : "MISSED");
    }
  }

  /** Writes the measurements to the file of {@code --json}, if there is one; the exit code. */
  static int end(@Nullable Path json, List<Measurement> results) throws IOException {
    if (json != null) {
      Files.writeString(
          json,
          JsonMapper.builder()
              .build()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(results.stream().map(Measurement::json).toList()));
    }
    return results.stream().allMatch(Measurement::ok) ? 0 : 4;
  }

  /** The middle of the values; the upper one of two. */
  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
