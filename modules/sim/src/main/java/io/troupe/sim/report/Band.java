package io.troupe.sim.report;

import static io.troupe.core.Require.require;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A number over several runs: its mean, and the range that holds nine tenths of them.
 *
 * @param mean of the runs
 * @param low 0.05-quantile; the least of fewer than 20 runs
 * @param high 0.95-quantile; the greatest of fewer than 20 runs
 */
public record Band(double mean, double low, double high) {
  private static final double TAIL = 0.05;

  /** The band of one number of each result. */
  public static <T> Band of(List<T> results, ToDoubleFunction<T> number) {
    require(!results.isEmpty(), "a band is of one run or more");
    double[] values = results.stream().mapToDouble(number).sorted().toArray();
    int cut = (int) (values.length * TAIL);
    return new Band(
        Arrays.stream(values).average().orElse(Double.NaN),
        values[cut],
        values[values.length - 1 - cut]);
  }
}
