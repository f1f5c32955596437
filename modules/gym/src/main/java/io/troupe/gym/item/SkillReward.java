package io.troupe.gym.item;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The reward of a skill: its accuracy on validation items after a training minus that before.
 *
 * @param skill the path of the skill or subskill
 * @param before accuracy
 * @param after accuracy
 * @param standardError of the difference; both accuracies are of the same items, whose answers are
 *     taken as independent, so that it is too great rather than too small
 */
public record SkillReward(String skill, double before, double after, double standardError) {
  /** Returns the difference. */
  public double value() {
    return after - before;
  }

  /** Returns the rewards of the skills and subskills that both reports have. */
  public static List<SkillReward> between(GymReport before, GymReport after) {
    List<SkillReward> rewards = new ArrayList<>();
    before.skills().forEach(each -> add(rewards, each, after.skill(each.name())));
    before.leaves().stream()
        .filter(each -> before.skill(each.name()).isEmpty())
        .forEach(each -> add(rewards, each, after.leaf(each.name())));
    return rewards;
  }

  private static void add(
      List<SkillReward> rewards, SkillSlice before, Optional<SkillSlice> after) {
    after.ifPresent(
        then ->
            rewards.add(
                new SkillReward(
                    before.name(),
                    before.accuracy(),
                    then.accuracy(),
                    Math.hypot(before.standardError(), then.standardError()))));
  }
}
