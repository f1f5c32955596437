package io.troupe.gym.student;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.PromptOrder;
import io.troupe.gym.item.TrainingRow;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of a student's training.
 *
 * @param baseSteps steps of a base student
 * @param baseRate learning rate of its first steps; it falls linearly to a tenth
 * @param epochs passes over the new rows
 * @param rate learning rate on new rows; it falls linearly to a tenth
 * @param replay rows of the base student mixed in for each new row
 * @param batch rows of a step
 * @param maxTokens of a response
 */
public record StudentFit(
    int baseSteps,
    double baseRate,
    int epochs,
    double rate,
    double replay,
    int batch,
    int maxTokens) {
  public StudentFit {
    require(baseSteps >= 1, "student.base_steps is 1 or greater, not %d", baseSteps);
    require(epochs >= 1, "student.epochs is 1 or greater, not %d", epochs);
    require(replay >= 0, "student.replay is 0 or greater, not %s", replay);
    require(batch >= 1, "student.batch is 1 or greater, not %d", batch);
  }

  /** Returns new rows and the share of the base student's rows that go with them. */
  List<TrainingRow> withReplay(List<TrainingRow> rows, List<TrainingRow> base, long seed) {
    List<TrainingRow> all = new ArrayList<>(rows);
    int replayed = base.isEmpty() ? 0 : (int) Math.round(replay * rows.size());
    for (int i = 0; i < replayed; i++) {
      all.add(base.get(PromptOrder.at(seed, 1L + i / base.size(), i % base.size(), base.size())));
    }
    return all;
  }
}
