package io.troupe.benchmarks.console;

import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.LearningCurve;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Watches one run's console by turns, in windows of equally many steps: not, yes, yes, not, and so
 * on. What changes slowly, the run itself and the machine, adds to both sides of each four alike.
 */
final class ConsoleOnOffRun implements LearningCurve.RowWatch, AutoCloseable {
  private static final int WINDOWS = 4;
  private static final int BEGIN = 10;

  /** Steps after a change of watcher that count for neither side. */
  private static final int SETTLE = 2;

  /** The middle one of its fours, and the quarter points. */
  record Ratio(double low, double middle, double high) {}

  private final Path runs;
  private final int steps;
  private final int fours;
  private final List<Double> seconds = new ArrayList<>();
  private final List<Double> cpu = new ArrayList<>();
  private ConsoleCpuTime fromThreads = new ConsoleCpuTime(Map.of());
  private double watchedCpu;
  private double servingCpu;
  private Optional<ConsoleReader> reader = Optional.empty();
  private long lines;
  private double fromSeconds;
  private double fromCpu;

  /**
   * Windows of a run that has not begun.
   *
   * @param runs the folder in which it will lie, alone
   * @param steps of a window
   * @param fours number of rounds of: not, yes, yes, not
   */
  ConsoleOnOffRun(Path runs, int steps, int fours) {
    this.runs = runs;
    this.steps = steps;
    this.fours = fours;
  }

  /** Steps that the run must make. */
  long steps() {
    return BEGIN + (long) WINDOWS * fours * (steps + SETTLE) + 1;
  }

  /** Whether a console was read at all. */
  boolean watched() {
    return lines > 0;
  }

  @Override
  public void row(long pid, long step, double at, double cpuAt) throws IOException {
    long since = step - BEGIN;
    int window = (int) (since / (steps + SETTLE));
    if (since < 0 || window > WINDOWS * fours) {
      return;
    }
    long within = since % (steps + SETTLE);
    if (within == 0) {
      if (window > 0) {
        seconds.add(at - fromSeconds);
        cpu.add(cpuAt - fromCpu);
        if (reader.isPresent()) {
          watchedCpu += cpuAt - fromCpu;
          servingCpu += ConsoleCpuTime.of(pid).since(fromThreads);
        }
      }
      boolean watch = window < WINDOWS * fours && (window % WINDOWS == 1 || window % WINDOWS == 2);
      turn(watch);
    }
    if (within == SETTLE) {
      fromSeconds = at;
      fromCpu = cpuAt;
      fromThreads = ConsoleCpuTime.of(pid);
    }
  }

  private void turn(boolean watch) {
    if (watch == reader.isPresent()) {
      return;
    }
    close();
    reader = watch ? Optional.of(new ConsoleReader(runs)) : Optional.empty();
  }

  /** Steps a second while it is watched : while it is not. */
  Ratio speed() {
    return ratio("steps a second", seconds);
  }

  /** The ratio of steps a second of CPU time. */
  Ratio economy() {
    return ratio("steps a second of CPU time", cpu);
  }

  /** The share of the serving threads in the CPU time of the watched windows. */
  double servingShare() {
    return servingCpu / watchedCpu;
  }

  private static Ratio ratio(String what, List<Double> spent) {
    System.err.print(what + ", watched : not, of each four: ");
    double[] ratios = new double[spent.size() / WINDOWS];
    for (int four = 0; four < ratios.length; four++) {
      int at = WINDOWS * four;
      ratios[four] = (spent.get(at) + spent.get(at + 3)) / (spent.get(at + 1) + spent.get(at + 2));
      System.err.printf(Locale.ROOT, "%.3f ", ratios[four]);
    }
    System.err.println();
    double[] sorted = ratios.clone();
    Arrays.sort(sorted);
    return new Ratio(
        sorted[sorted.length / 4], BenchmarkReport.median(ratios), sorted[3 * sorted.length / 4]);
  }

  @Override
  public void close() {
    reader.ifPresent(
        open -> {
          lines += open.lines();
          open.close();
        });
    reader = Optional.empty();
  }
}
