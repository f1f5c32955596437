package io.troupe.gym.agent;

import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.skill.SkillAction;
import io.troupe.gym.skill.SkillTree;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Makes the next training rows from what the student got wrong. */
public interface GymAgent {
  /**
   * An agent's view: validation only, never the test split.
   *
   * @param state of the trial
   * @param report of the last validation
   * @param answers of the last validation
   */
  record Sight(
      RowMaker.Occasion occasion, TrialState state, GymReport report, List<AnsweredItem> answers) {
    public Sight {
      answers = List.copyOf(answers);
    }
  }

  /**
   * An agent's proposal.
   *
   * @param actions on the trees, by skill; none of an agent without trees
   * @param trees after them; none of an agent without trees
   */
  record Proposal(Map<String, SkillAction> actions, List<SkillTree> trees, List<TrainingRow> rows) {
    public Proposal {
      actions = Map.copyOf(actions);
      trees = List.copyOf(trees);
      rows = List.copyOf(rows);
    }
  }

  /** Makes rows; the same sight gives the same rows, whatever else the gym has done. */
  Proposal propose(Sight sight) throws IOException;
}
