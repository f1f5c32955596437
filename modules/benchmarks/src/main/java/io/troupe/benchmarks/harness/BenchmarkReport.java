package io.troupe.benchmarks.harness;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The printed results of a benchmark. */
public final class BenchmarkReport {
  private static final double OUTSIDE = .05;

  private BenchmarkReport() {}

  /**
   * Prints a line for each measurement.
   *
   * @param line format of name, value, unit and whether the bar is met (empty without one)
   */
  public static void print(String line, List<Measurement> results) {
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

  /** The middle of the values; the upper one of two. */
  public static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Between these the median of all possible rounds lies, with a probability of 95 % or more. */
  public record ValueRange(double low, double high) {}

  /**
   * Returns the range of the median of the population, by the ranks of the values alone: of n
   * values each lies below the median with probability 1/2, so as many do as of n tosses of a coin
   * come up heads. With fewer than 6 values the range is theirs, and holds it less often.
   */
  public static ValueRange rangeOfMedian(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    double atMost = 0;
    int rank = 0; // of values that are left out at each end
    double choose = Math.pow(.5, n);
    while (rank < n / 2 && atMost + choose <= OUTSIDE / 2) {
      atMost += choose;
      choose = choose * (n - rank) / (rank + 1);
      rank++;
    }
    int last = Math.max(0, rank - 1);
    return new ValueRange(sorted[last], sorted[n - 1 - last]);
  }
}
