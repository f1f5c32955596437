package io.troupe.gym.agent;

import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.TrainingRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The skill-list agent: it divides the rows evenly among the leaves that have errors, and asks for
 * each leaf's rows with that leaf's errors. A leaf without errors gets none.
 */
public final class SkillListAgent implements GymAgent {
  private static final int ERRORS_OF_A_CALL = 10;
  private static final int ROWS_OF_A_CALL = 10;

  private final RowMaker maker;
  private final int rows;

  /**
   * An agent.
   *
   * @param rows most rows of a proposal
   */
  public SkillListAgent(RowMaker maker, int rows) {
    this.maker = maker;
    this.rows = rows;
  }

  @Override
  public Proposal propose(Sight sight) throws IOException {
    Map<String, List<AnsweredItem>> errors = new TreeMap<>();
    sight.answers().stream()
        .filter(each -> !each.correct())
        .forEach(
            each -> errors.computeIfAbsent(each.item().leaf(), _ -> new ArrayList<>()).add(each));
    RowCounts counts = RowCounts.of(sight.state());
    List<TrainingRow> made = new ArrayList<>();
    int leaf = 0;
    for (List<AnsweredItem> each : errors.values()) {
      int share = rows / errors.size() + (leaf++ < rows % errors.size() ? 1 : 0);
      made.addAll(rows(sight, each, share, counts));
    }
    return new Proposal(Map.of(), List.of(), made);
  }

  private List<TrainingRow> rows(
      Sight sight, List<AnsweredItem> errors, int share, RowCounts counts) throws IOException {
    List<TrainingRow> made = new ArrayList<>();
    for (int call = 0; call * ROWS_OF_A_CALL < share; call++) {
      int from = call * ERRORS_OF_A_CALL % errors.size();
      List<AnsweredItem> shown =
          errors.subList(from, Math.min(errors.size(), from + ERRORS_OF_A_CALL));
      int wanted = Math.min(ROWS_OF_A_CALL, share - call * ROWS_OF_A_CALL);
      made.addAll(counts.against(maker, sight.occasion(), call, wanted, shown));
    }
    return made;
  }
}
