package io.troupe.sim.fit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The time of a run as its parts had it: where more threads computed than there are cores, a second
 * of the clock was less than a second of each of them.
 */
final class BusyTime {
  /*
   * The journal does not say which completions of a group were decoded when. All advance together,
   * so completion i of a group whose longest has M tokens is taken to be decoded in the first L_i / M
   * of the group's time.
   */
  private static final double MILLIS = 1e3;

  private final double[] times;
  private final double[] work;
  private final Map<String, double[]> rows = new HashMap<>();

  private record Change(double at, String worker, int rows, boolean trainer) {}

  BusyTime(MeasuredRun run, double cores, double samplerThreads, double trainerThreads) {
    List<Change> changes = new ArrayList<>();
    for (MeasuredGroupLife group : run.groups()) {
      double takes = (double) (group.sampled() - group.granted());
      changes.add(
          new Change((double) group.granted(), group.worker(), group.lengths().size(), false));
      for (int length : group.lengths()) {
        double until = group.granted() + takes * length / group.longest();
        changes.add(new Change(until, group.worker(), -1, false));
      }
    }
    for (MeasuredRun.MeasuredStep step : run.measuredSteps()) {
      changes.add(new Change((double) step.started(), "", 1, true));
      changes.add(new Change((double) step.trained(), "", -1, true));
    }
    changes.sort(Comparator.comparingDouble(Change::at));
    times = new double[changes.size()];
    work = new double[changes.size()];
    run.groups().forEach(group -> rows.putIfAbsent(group.worker(), new double[times.length]));
    Map<String, Integer> now = new HashMap<>();
    int training = 0;
    for (int i = 0; i < times.length; i++) {
      Change change = changes.get(i);
      times[i] = change.at();
      if (i > 0) {
        double passed = times[i] - times[i - 1];
        long decoding = now.values().stream().filter(count -> count > 0).count();
        double busy = decoding * samplerThreads + (training > 0 ? trainerThreads : 0);
        double slowness = cores == 0 ? 1 : Math.max(1, busy / cores);
        work[i] = work[i - 1] + passed / slowness;
        int at = i;
        rows.forEach(
            (worker, sums) ->
                sums[at] = sums[at - 1] + passed / slowness * now.getOrDefault(worker, 0));
      }
      if (change.trainer()) {
        training += change.rows();
      } else {
        now.merge(change.worker(), change.rows(), Integer::sum);
      }
    }
  }

  /** Seconds that a part had between two moments. */
  double seconds(long from, long until) {
    return (value(work, until) - value(work, from)) / MILLIS;
  }

  /** Seconds times rows of a worker between two moments. */
  double rowSeconds(String worker, long from, long until) {
    double[] sums = rows.getOrDefault(worker, work);
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
