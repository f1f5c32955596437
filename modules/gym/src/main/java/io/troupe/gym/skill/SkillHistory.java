package io.troupe.gym.skill;

import io.troupe.gym.item.SkillSlice;
import java.util.List;
import java.util.Map;

/**
 * A policy's knowledge of one skill.
 *
 * @param tree as it is
 * @param steps past ones, oldest first
 * @param slices of the last validation, by subskill; a subskill without validation items has none
 */
public record SkillHistory(SkillTree tree, List<SkillStep> steps, Map<String, SkillSlice> slices) {
  public SkillHistory {
    steps = List.copyOf(steps);
    slices = Map.copyOf(slices);
  }
}
