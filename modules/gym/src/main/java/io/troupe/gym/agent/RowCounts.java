package io.troupe.gym.agent;

import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.TrialState;
import java.io.IOException;
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

  /**
   * Asks a maker for rows against errors, of their first item's leaf, and counts what it makes.
   *
   * @param call number of calls that the proposal has made before
   */
  List<TrainingRow> against(
      RowMaker maker, RowMaker.Occasion occasion, int call, int wanted, List<AnsweredItem> errors)
      throws IOException {
    GymItem first = errors.getFirst().item();
    List<TrainingRow> rows =
        maker.against(
            occasion,
            call,
            new RowMaker.RowOrder(
                first.skill(), first.subskill(), of(first.leaf()), wanted, errors));
    rows.forEach(row -> counts.merge(row.item().leaf(), 1, Integer::sum));
    return rows;
  }

  private int of(String leaf) {
    return counts.getOrDefault(leaf, 0);
  }
}
