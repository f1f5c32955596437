package io.troupe.gym.loop;

import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.SkillReward;
import io.troupe.gym.skill.SkillAction;
import io.troupe.gym.skill.SkillTree;
import java.util.List;
import java.util.Map;

/** One fact in the journal of a gym. */
public sealed interface GymEvent {
  /** A fact about one trial, by its place in the plan. */
  sealed interface OfTrial extends GymEvent {
    int trial();
  }

  /**
   * A language model answered; its text is here, so that no call is paid twice.
   *
   * @param key digest of the request: {@code ModelRequest}
   */
  record ModelAnswered(String key, String text, Spend spend) implements GymEvent {}

  /** The base student of the trial exists; {@code student} is the digest of its weights. */
  record BaseMade(int trial, String student) implements OfTrial {}

  /**
   * A student answered all items of a split.
   *
   * @param answers digest of the file of answers
   */
  record Evaluated(int trial, int iteration, Split split, GymReport report, String answers)
      implements OfTrial {}

  /**
   * The agent made rows.
   *
   * @param trees after its actions
   * @param rows made, before any check
   * @param file digest of the file of rows
   */
  record Proposed(
      int trial,
      int iteration,
      Map<String, SkillAction> actions,
      List<SkillTree> trees,
      int rows,
      String file)
      implements OfTrial {}

  /**
   * The rows were checked.
   *
   * @param kept rows by leaf
   * @param refused rows by reason
   * @param file digest of the file of kept rows
   */
  record Checked(
      int trial,
      int iteration,
      Map<String, Integer> kept,
      Map<String, Integer> refused,
      String file)
      implements OfTrial {}

  /** No row was kept, so that nothing is trained in this iteration. */
  record Skipped(int trial, int iteration) implements OfTrial {}

  /**
   * The base was trained on all rows so far.
   *
   * @param student digest of the weights
   */
  record Trained(int trial, int iteration, String student, int steps, double loss)
      implements OfTrial {}

  /** A training whose loss was not finite; the trial ends with the best student before. */
  record Diverged(int trial, int iteration, String reason) implements OfTrial {}

  /** The change on validation by the iteration. */
  record Rewarded(int trial, int iteration, List<SkillReward> rewards) implements OfTrial {}

  /** The iteration with the highest validation accuracy; of equal ones the earliest. */
  record Chosen(int trial, int iteration) implements OfTrial {}

  /** The trial has ended. */
  record TrialEnded(int trial, String reason) implements OfTrial {}
}
