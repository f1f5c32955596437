package io.troupe.gym.skill;

import static io.troupe.core.Require.require;

import io.troupe.core.SplitMix64;
import io.troupe.gym.skill.SkillAction.Exploit;
import io.troupe.gym.skill.SkillAction.Explore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Chooses what happens to the tree of one skill, from that skill's history alone.
 *
 * <p>The policies of DataEnvGym (Khan et al. 2024), without its gaps: an allocation is never
 * negative, a budget bounds each proposal and all of them, and no subskill is allocated rows a
 * second time because others are added.
 */
public sealed interface SkillPolicy {
  /** Returns the next action; the same history and seed give the same action. */
  SkillAction next(SkillHistory history, long seed);

  /**
   * Explores at every call until the skill has its rows, and makes none afterwards.
   *
   * @param explore the action of each call
   * @param mostRows of the skill in all
   */
  record Alternating(Explore explore, int mostRows) implements SkillPolicy {
    @Override
    public SkillAction next(SkillHistory history, long seed) {
      return history.tree().generated() >= mostRows ? zeroed(history.tree()) : explore;
    }
  }

  /**
   * Grows the tree to a number of subskills, then fills each to the same number of rows.
   *
   * @param explore the action while the tree grows
   * @param subskills S
   * @param rows D, of each subskill in all
   * @param most A, of each subskill and call
   */
  record FillBalanced(Explore explore, int subskills, int rows, int most) implements SkillPolicy {
    public FillBalanced {
      require(subskills >= 1 && rows >= 1 && most >= 1, "fill_balanced needs positive numbers");
    }

    @Override
    public SkillAction next(SkillHistory history, long seed) {
      SkillTree tree = history.tree();
      if (tree.subskills().size() < subskills) {
        int missing = subskills - tree.subskills().size();
        return new Explore(Math.min(explore.subskills(), missing), explore.rows());
      }
      Map<String, Integer> delta = new TreeMap<>();
      for (Subskill each : tree.subskills()) {
        int target = Math.clamp(rows - each.generated(), 0, most);
        delta.put(each.name(), target - each.allocation());
      }
      return new Exploit(delta);
    }
  }

  /**
   * Tosses a coin: it adds 1 to 3 subskills of 1 to 10 rows, or draws the allocation of each.
   *
   * @param most rows of a subskill and call
   */
  record Coin(int most) implements SkillPolicy {
    private static final int MOST_NEW = 3;
    private static final int MOST_ROWS = 10;

    public Coin {
      require(most >= 1, "a subskill gets 1 row or more a call, not %d", most);
    }

    @Override
    public SkillAction next(SkillHistory history, long seed) {
      long draw = SplitMix64.mix(seed);
      if (history.tree().subskills().isEmpty() || (draw & 1) == 0) {
        return new Explore(
            1 + Math.floorMod(draw >>> 8, MOST_NEW), 1 + Math.floorMod(draw >>> 24, MOST_ROWS));
      }
      Map<String, Integer> delta = new TreeMap<>();
      for (Subskill each : history.tree().subskills()) {
        draw = SplitMix64.mix(draw);
        delta.put(each.name(), Math.floorMod(draw, most + 1) - each.allocation());
      }
      return new Exploit(delta);
    }
  }

  /**
   * Exploits what paid: a reward above the threshold adds rows to every subskill, another one
   * explores.
   *
   * @param threshold of the last reward
   * @param more rows for each subskill
   * @param explore the action otherwise
   */
  record Threshold(double threshold, int more, Explore explore) implements SkillPolicy {
    @Override
    public SkillAction next(SkillHistory history, long seed) {
      List<SkillStep> steps = history.steps();
      if (steps.isEmpty() || steps.getLast().reward() <= threshold) {
        return explore;
      }
      Map<String, Integer> delta = new TreeMap<>();
      history.tree().subskills().forEach(each -> delta.put(each.name(), more));
      return new Exploit(delta);
    }
  }

  /** Returns the names of subskills without gain, which a tree prunes. */
  static List<String> withoutGain(SkillTree tree, Map<String, List<Double>> rewards, int patience) {
    List<String> names = new ArrayList<>();
    for (Subskill each : tree.subskills()) {
      List<Double> past = rewards.getOrDefault(each.name(), List.of());
      boolean gained =
          past.size() < patience
              || past.subList(past.size() - patience, past.size()).stream()
                  .anyMatch(reward -> reward > 0);
      if (!gained && !each.pruned()) {
        names.add(each.name());
      }
    }
    return names;
  }

  private static SkillAction zeroed(SkillTree tree) {
    Map<String, Integer> delta = new TreeMap<>();
    tree.subskills().forEach(each -> delta.put(each.name(), -each.allocation()));
    return new Exploit(delta);
  }
}
