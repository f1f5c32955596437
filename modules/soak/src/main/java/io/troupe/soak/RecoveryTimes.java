package io.troupe.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The cost of blows to a cluster: the time until the next step, and until all was well again. */
public final class RecoveryTimes {
  private static final double SECOND = 1e9;

  private static final class Cost {
    private final String kind;
    private final long at;
    private double step = -1;

    private Cost(String kind, long at) {
      this.kind = kind;
      this.at = at;
    }
  }

  private record Costs(List<Double> step, List<Double> well) {}

  private final TreeMap<String, Costs> byKind = new TreeMap<>();
  private final List<Cost> open = new ArrayList<>();
  private long wellSince;

  void injected(ClusterFault.Kind kind, long now) {
    open.add(new Cost(kind.toString(), now));
  }

  /** A step was made. */
  void stepDone(long now) {
    open.stream()
        .filter(cost -> cost.step < 0)
        .forEach(cost -> cost.step = (now - cost.at) / SECOND);
  }

  /**
   * Notes that all is well again; returns the cost of the blows since the last such time, in words.
   */
  Optional<String> recovered(long now) {
    wellSince = now;
    if (open.isEmpty()) {
      return Optional.empty();
    }
    List<String> words = new ArrayList<>();
    for (Cost cost : open) {
      double seconds = (now - cost.at) / SECOND;
      Costs costs =
          byKind.computeIfAbsent(cost.kind, _ -> new Costs(new ArrayList<>(), new ArrayList<>()));
      costs.step().add(cost.step);
      costs.well().add(seconds);
      words.add("next step after %.1f s, all at work after %.1f s".formatted(cost.step, seconds));
    }
    open.clear();
    return Optional.of("  " + String.join("; ", words));
  }

  /** Whether the cluster still gets over a blow. */
  boolean pending() {
    return !open.isEmpty();
  }

  /** Returns the time since which all is well, if it is. */
  long wellSince() {
    return wellSince;
  }

  /** Returns the number of blows from which the run recovered. */
  public long count() {
    return byKind.values().stream().mapToLong(costs -> costs.step().size()).sum();
  }

  /** A table of them by kind. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%-16s %5s   %-21s   %-21s"
            .formatted("ends and stops", "", "next step after", "all at work after"));
    lines.add(
        "%-16s %5s   %10s %10s   %10s %10s"
            .formatted("", "", "median", "worst", "median", "worst"));
    byKind.forEach((kind, costs) -> lines.add(line(kind, costs)));
    Costs all = new Costs(new ArrayList<>(), new ArrayList<>());
    byKind
        .values()
        .forEach(
            costs -> {
              all.step().addAll(costs.step());
              all.well().addAll(costs.well());
            });
    if (!all.step().isEmpty()) {
      lines.add(line("all", all));
    }
    return lines;
  }

  private static String line(String kind, Costs costs) {
    return "%-16s %5d   %8.1f s %8.1f s   %8.1f s %8.1f s"
        .formatted(
            kind,
            costs.step().size(),
            median(costs.step()),
            worst(costs.step()),
            median(costs.well()),
            worst(costs.well()));
  }

  private static double median(List<Double> seconds) {
    List<Double> sorted = seconds.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  private static double worst(List<Double> seconds) {
    return seconds.stream().mapToDouble(Double::doubleValue).max().orElse(0);
  }
}
