package io.troupe.sim.fit;

import io.troupe.sim.model.ClusterShape.CpuShape;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The time of a run as its parts had it: where more threads computed than there are cores, a second
 * of the clock was less than a second of each of them.
 */
final class BusyTime {
  private static final double MILLIS = 1e3;

  private final double[] times;
  private final double[] work;
  private final Map<String, double[]> rows = new HashMap<>();

  BusyTime(List<BusyParts.Span> spans, CpuShape cpu) {
    times = new double[spans.size() + 1];
    work = new double[spans.size() + 1];
    Set<String> workers = new HashSet<>();
    spans.forEach(span -> workers.addAll(span.rows().keySet()));
    workers.forEach(worker -> rows.put(worker, new double[times.length]));
    for (int i = 0; i < spans.size(); i++) {
      BusyParts.Span span = spans.get(i);
      double had = span.millis() / cpu.slowness(span.threads());
      times[i] = span.from();
      times[i + 1] = span.until();
      work[i + 1] = work[i] + had;
      int at = i;
      rows.forEach(
          (worker, sums) -> sums[at + 1] = sums[at] + had * span.rows().getOrDefault(worker, 0));
    }
  }

  /** Seconds that a part had between two moments. */
  double seconds(long from, long until) {
    return (value(work, until) - value(work, from)) / MILLIS;
  }

  /** Seconds times rows of a worker between two moments. */
  double rowSeconds(String worker, long from, long until) {
    double[] sums = Objects.requireNonNull(rows.get(worker));
    return (value(sums, until) - value(sums, from)) / MILLIS;
  }

  private double value(double[] sums, long moment) {
    double at = (double) moment;
    int place = Arrays.binarySearch(times, at);
    if (place >= 0) {
      while (place > 0 && times[place - 1] == at) {
        place--;
      }
      return sums[place];
    }
    int after = -place - 1;
    if (after == 0 || after == times.length) {
      return sums[Math.clamp(after, 0, times.length - 1)];
    }
    double share = (at - times[after - 1]) / (times[after] - times[after - 1]);
    return sums[after - 1] + share * (sums[after] - sums[after - 1]);
  }
}
