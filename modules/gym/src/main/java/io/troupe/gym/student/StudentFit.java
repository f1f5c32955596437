package io.troupe.gym.student;

import static io.troupe.core.Require.require;

/**
 * How a student is trained.
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
}
