package io.troupe.telemetry;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/**
 * A linear axis with round ticks (1, 2 or 5 times a power of ten) that begins and ends on one, and
 * holds 0 when the values are not far from it.
 *
 * @param first number of the first tick: it lies at {@code first * step}
 * @param last number of the last tick, greater than {@code first}
 */
record PlotAxis(long first, long last, double step) {
  private static final int TICKS = 6;

  static PlotAxis over(double[] values) {
    double low = Arrays.stream(values).min().orElse(0);
    double high = Arrays.stream(values).max().orElse(1);
    if (low > 0 && low < high / 2) {
      low = 0;
    }
    double step = roundStep((high - low) / TICKS, high);
    long first = (long) Math.floor(low / step + 1e-9);
    long last = Math.max(first + 1, (long) Math.ceil(high / step - 1e-9));
    return new PlotAxis(first, last, step);
  }

  private static double roundStep(double width, double high) {
    double least = Math.max(width, Math.max(Math.abs(high), 1) * 1e-9);
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    return DoubleStream.of(1, 2, 5, 10)
        .map(digit -> digit * power)
        .filter(step -> step >= least * (1 - 1e-9))
        .findFirst()
        .orElse(10 * power);
  }

  double[] ticks() {
    return LongStream.rangeClosed(first, last).mapToDouble(number -> number * step).toArray();
  }

  /** Returns the coordinate of a value between the coordinates of the axis's ends. */
  double place(double value, double from, double to) {
    return from + (value - first * step) / ((last - first) * step) * (to - from);
  }

  String label(double tick) {
    int decimals = (int) Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    return Math.abs(tick) >= 10_000
        ? CompactNumbers.count(tick)
        : String.format(Locale.ROOT, "%." + decimals + "f", tick);
  }
}
