package io.troupe.gym.agent;

import io.troupe.core.SplitMix64;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.TrainingRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The open-ended agent: each call shows some errors, drawn without replacement as long as there are
 * more, and asks for rows against them. Rows are counted under the first error's skill. Without
 * errors it makes none.
 */
public final class OpenEndedAgent implements GymAgent {
  private static final int ERRORS_OF_A_CALL = 3;
  private static final int ROWS_OF_A_CALL = 10;

  private final RowMaker maker;
  private final int rows;

  /**
   * An agent.
   *
   * @param rows most rows of a proposal
   */
  public OpenEndedAgent(RowMaker maker, int rows) {
    this.maker = maker;
    this.rows = rows;
  }

  @Override
  public Proposal propose(Sight sight) throws IOException {
    List<AnsweredItem> errors = sight.answers().stream().filter(each -> !each.correct()).toList();
    RowCounts counts = RowCounts.of(sight.state());
    List<TrainingRow> made = new ArrayList<>();
    for (int call = 0; !errors.isEmpty() && call * ROWS_OF_A_CALL < rows; call++) {
      List<AnsweredItem> shown = shown(errors, call, sight.occasion());
      int wanted = Math.min(ROWS_OF_A_CALL, rows - call * ROWS_OF_A_CALL);
      made.addAll(counts.against(maker, sight.occasion(), call, wanted, shown));
    }
    return new Proposal(Map.of(), List.of(), made);
  }

  private static List<AnsweredItem> shown(
      List<AnsweredItem> errors, int call, RowMaker.Occasion occasion) {
    List<AnsweredItem> shown = new ArrayList<>();
    long seed = SplitMix64.mix(occasion.seed() * 1_000_003 + occasion.iteration());
    for (int i = 0; i < Math.min(ERRORS_OF_A_CALL, errors.size()); i++) {
      int at = call * ERRORS_OF_A_CALL + i;
      shown.add(
          errors.get(PromptOrder.at(seed, at / errors.size(), at % errors.size(), errors.size())));
    }
    return shown;
  }
}
