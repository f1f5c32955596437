package io.troupe.gym.loop;

import io.troupe.gym.item.GymReport;
import io.troupe.gym.skill.SkillAction;
import io.troupe.gym.skill.SkillTree;
import java.util.List;
import java.util.Map;

/** The result of a work. */
public sealed interface GymOutcome {
  /** The outcome of {@link GymWork.MakeBase}. */
  record Made(String student) implements GymOutcome {}

  /** The outcome of {@link GymWork.Evaluate}. */
  record Scored(GymReport report, String answers) implements GymOutcome {}

  /** The outcome of {@link GymWork.Propose}. */
  record Rows(Map<String, SkillAction> actions, List<SkillTree> trees, int rows, String file)
      implements GymOutcome {}

  /** The outcome of {@link GymWork.Check}. */
  record Judged(Map<String, Integer> kept, Map<String, Integer> refused, String file)
      implements GymOutcome {}

  /** The outcome of {@link GymWork.Train}. */
  record Fitted(String student, int steps, double loss) implements GymOutcome {}

  /** The outcome of {@link GymWork.Train}: the loss was not finite. */
  record NotFinite(String reason) implements GymOutcome {}
}
