package io.troupe.gym.arithmetic;

import io.troupe.gym.agent.RowMaker;
import io.troupe.gym.item.TrainingRow;
import java.util.List;

/**
 * A script that makes rows of arithmetic: it knows all subskills, is never wrong, costs nothing,
 * and gives the same rows on the same occasion.
 */
public final class ArithmeticMaker implements RowMaker {
  private final ArithmeticGym gym;
  private final List<String> weak;
  private final int baseRows;

  /**
   * A maker of rows that no base student has seen.
   *
   * @param weak leaves that the base student was not trained on
   * @param baseRows of every other leaf that it was trained on
   */
  public ArithmeticMaker(ArithmeticGym gym, List<String> weak, int baseRows) {
    this.gym = gym;
    this.weak = List.copyOf(weak);
    this.baseRows = baseRows;
  }

  @Override
  public List<String> subskills(Occasion occasion, String skill, List<String> known, int wanted) {
    return List.of(ArithmeticLeaf.values()).stream()
        .filter(each -> each.skill().equals(skill))
        .map(ArithmeticLeaf::subskill)
        .filter(each -> !known.contains(each))
        .limit(wanted)
        .toList();
  }

  @Override
  public List<TrainingRow> rows(Occasion occasion, RowOrder order) {
    ArithmeticLeaf leaf =
        ArithmeticGym.leaf(order.skill() + "/" + order.subskill())
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "arithmetic has no subskill %s/%s"
                            .formatted(order.skill(), order.subskill())));
    int seen = weak.contains(leaf.path()) ? 0 : baseRows;
    return gym.rows(leaf, occasion.seed(), seen + order.before(), order.wanted());
  }

  @Override
  public List<TrainingRow> against(Occasion occasion, int call, RowOrder order) {
    return rows(occasion, order);
  }

  @Override
  public int solves(Occasion occasion, TrainingRow row, int tries) {
    return tries; // calculated, not guessed
  }
}
