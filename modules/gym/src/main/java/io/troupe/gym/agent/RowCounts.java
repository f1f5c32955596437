package io.troupe.gym.agent;

import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.TrialState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Rows by leaf: those that a trial has kept, and those of a proposal in the making. */
final class RowCounts {
  private final Map<String, Integer> counts = new HashMap<>();

  private RowCounts() {}

  /** The rows that a trial has kept. */
  static RowCounts of(TrialState state) {
    RowCounts counts = new RowCounts();
    state
        .steps()
        .forEach(
            step ->
                step.kept().forEach((leaf, rows) -> counts.counts.merge(leaf, rows, Integer::sum)));
    return counts;
  }

  int of(String leaf) {
    return counts.getOrDefault(leaf, 0);
  }

  /** Counts rows, and returns them. */
  List<TrainingRow> count(List<TrainingRow> rows) {
    rows.forEach(row -> counts.merge(row.item().leaf(), 1, Integer::sum));
    return rows;
  }
}
