package io.troupe.sim.fit;

import io.troupe.sim.model.ClusterShape.CpuShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The times at which parts of a run computed, by its journal. */
final class BusyParts {
  /*
   * The journal does not say which completions of a group were decoded when. All advance together,
   * so completion i of a group whose longest has M tokens is taken to be decoded in the first L_i / M
   * of the group's time.
   */
  private final List<Span> spans = new ArrayList<>();

  /**
   * A time in which nothing changes.
   *
   * @param from in milliseconds, as {@code until}
   * @param threads of trainer and workers that compute
   * @param rows that are decoded, by worker
   */
  record Span(double from, double until, double threads, Map<String, Integer> rows) {
    double millis() {
      return until - from;
    }

    /** Returns the rows of the worker that decodes most of them. */
    double mostRows() {
      return rows.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    }
  }

  private record Change(double at, String worker, int rows, boolean trainer) {}

  BusyParts(MeasuredRun run, CpuShape cpu) {
    Map<String, Integer> rows = new HashMap<>();
    int training = 0;
    double from = Double.NaN;
    for (Change change : changes(run)) {
      if (change.at() > from) {
        long decoding = rows.values().stream().filter(count -> count > 0).count();
        double threads =
            decoding * cpu.samplerThreads() + (training > 0 ? cpu.trainerThreads() : 0);
        spans.add(new Span(from, change.at(), threads, Map.copyOf(rows)));
      }
      from = change.at();
      if (change.trainer()) {
        training += change.rows();
      } else {
        rows.merge(change.worker(), change.rows(), Integer::sum);
      }
    }
  }

  private static List<Change> changes(MeasuredRun run) {
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
    return changes;
  }

  List<Span> spans() {
    return spans;
  }
}
