package io.troupe.gym.skill;

import static io.troupe.core.Require.require;

import java.util.Map;
import java.util.TreeMap;

/** A policy's change of a tree before the next rows are made. */
public sealed interface SkillAction {
  /**
   * Adds subskills. The allocations of the others become 0, because their rows are paid for.
   *
   * @param subskills to add, 1 or more
   * @param rows allocated to each of them
   */
  record Explore(int subskills, int rows) implements SkillAction {
    public Explore {
      require(subskills >= 1, "exploring adds at least one subskill, not %d", subskills);
      require(rows >= 0, "a subskill is allocated 0 or more rows, not %d", rows);
    }
  }

  /**
   * Changes allocations.
   *
   * @param delta rows to add, by subskill; one that is not named keeps its allocation, and an
   *     allocation never falls below 0
   */
  record Exploit(Map<String, Integer> delta) implements SkillAction {
    public Exploit {
      delta = Map.copyOf(new TreeMap<>(delta));
    }
  }
}
