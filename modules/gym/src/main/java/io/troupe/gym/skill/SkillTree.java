package io.troupe.gym.skill;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A skill, its subskills, and how many rows each of them gets next.
 *
 * @param skill such as {@code sub}
 * @param subskills in the order in which they were found, no name twice
 */
public record SkillTree(String skill, List<Subskill> subskills) {
  public SkillTree {
    require(!skill.isBlank(), "a tree has a skill");
    subskills = List.copyOf(subskills);
    Set<String> names = new HashSet<>();
    for (Subskill each : subskills) {
      require(names.add(each.name()), "the skill %s has the subskill %s twice", skill, each.name());
    }
  }

  /** A tree without subskills. */
  public static SkillTree of(String skill) {
    return new SkillTree(skill, List.of());
  }

  public Optional<Subskill> subskill(String name) {
    return subskills.stream().filter(each -> each.name().equals(name)).findFirst();
  }

  /** Returns the rows that the next proposal makes. */
  public int allocated() {
    return subskills.stream().mapToInt(Subskill::allocation).sum();
  }

  /** Returns the rows that were kept so far. */
  public int generated() {
    return subskills.stream().mapToInt(Subskill::generated).sum();
  }

  /** Adds subskills; a name that the tree has is passed over, and all others get nothing. */
  public SkillTree explored(List<String> names, int rows) {
    List<Subskill> all = new ArrayList<>();
    subskills.forEach(each -> all.add(each.allocated(0)));
    Set<String> known = new HashSet<>(subskills.stream().map(Subskill::name).toList());
    for (String name : names) {
      if (known.add(name)) {
        all.add(new Subskill(name, rows, 0, false));
      }
    }
    return new SkillTree(skill, all);
  }

  /**
   * Changes allocations.
   *
   * @throws IllegalArgumentException if a name is none of this tree's
   */
  public SkillTree exploited(Map<String, Integer> delta) {
    delta
        .keySet()
        .forEach(
            name ->
                require(
                    subskill(name).isPresent(),
                    "the skill %s has no subskill %s to change the allocation of",
                    skill,
                    name));
    return with(each -> each.allocated(each.allocation() + delta.getOrDefault(each.name(), 0)));
  }

  /** Counts rows that were kept. */
  public SkillTree generated(String name, int rows) {
    return with(each -> each.name().equals(name) ? each.generated(rows) : each);
  }

  /** Gives a subskill no more rows. */
  public SkillTree pruned(String name) {
    return with(each -> each.name().equals(name) ? each.cut() : each);
  }

  /** Lowers all allocations in proportion, until they are at most a budget together. */
  public SkillTree within(int budget) {
    require(budget >= 0, "a budget of rows is 0 or greater, not %d", budget);
    int sum = allocated();
    return sum <= budget
        ? this
        : with(each -> each.allocated((int) ((long) each.allocation() * budget / sum)));
  }

  private SkillTree with(UnaryOperator<Subskill> change) {
    return new SkillTree(skill, subskills.stream().map(change).toList());
  }
}
