package io.troupe.gym.agent;

import io.troupe.core.prompt.PromptOrder;
import io.troupe.gym.item.TrainingRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The agent of a control arm: it makes nothing new, and draws as many rows as the others make from
 * those that the base student was trained on. What its student gains, more training alone gains.
 */
public final class OldRowsAgent implements GymAgent {
  private final List<TrainingRow> old;
  private final int rows;

  /**
   * An agent.
   *
   * @param rows of a proposal
   */
  public OldRowsAgent(List<TrainingRow> old, int rows) {
    this.old = List.copyOf(old);
    this.rows = Math.min(rows, old.size());
  }

  @Override
  public Proposal propose(Sight sight) {
    List<TrainingRow> drawn = new ArrayList<>();
    int from = (sight.occasion().iteration() - 1) * rows;
    for (int i = from; i < Math.min(from + rows, old.size()); i++) {
      drawn.add(old.get(PromptOrder.at(sight.occasion().seed(), 1, i, old.size())));
    }
    return new Proposal(Map.of(), List.of(), drawn);
  }
}
