package io.troupe.gym.agent;

import io.troupe.core.SplitMix64;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.SkillReward;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.skill.RowShares;
import io.troupe.gym.skill.SkillAction;
import io.troupe.gym.skill.SkillHistory;
import io.troupe.gym.skill.SkillPolicy;
import io.troupe.gym.skill.SkillStep;
import io.troupe.gym.skill.SkillTree;
import io.troupe.gym.skill.Subskill;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The skill-tree agent: one tree for each skill that validation has, rows for every subskill by its
 * allocation. The trees themselves are in the trial's state, so that the agent has none of its own.
 */
public final class SkillTreeAgent implements GymAgent {
  /** The change of the trees before rows are made. */
  public sealed interface Growth {
    /**
     * A policy for each tree, which sees its skill alone.
     *
     * @param policy of every tree
     */
    record Separate(SkillPolicy policy) implements Growth {}

    /**
     * Trees hold the subskills that validation has, and the rows are divided among all of them.
     *
     * @param shares of each
     */
    record Divided(RowShares shares) implements Growth {}
  }

  /** Wrong answers of a subskill that its maker sees. */
  private static final int ERRORS = 3;

  private final Growth growth;
  private final RowMaker maker;
  private final int rows;
  private final int patience;

  /**
   * An agent.
   *
   * @param rows most rows of a proposal
   * @param patience rewards without gain in a row after which a subskill gets no more rows; 0 never
   *     prunes
   */
  public SkillTreeAgent(Growth growth, RowMaker maker, int rows, int patience) {
    this.growth = growth;
    this.maker = maker;
    this.rows = rows;
    this.patience = patience;
  }

  @Override
  public Proposal propose(Sight sight) throws IOException {
    List<SkillTree> trees = pruned(trees(sight), sight.state());
    Map<String, SkillAction> actions =
        switch (growth) {
          case Growth.Divided(RowShares shares) -> divided(shares, trees, sight);
          case Growth.Separate(SkillPolicy policy) -> separate(policy, trees, sight);
        };
    List<SkillTree> next = new ArrayList<>();
    for (SkillTree tree : trees) {
      next.add(acted(sight, tree, Objects.requireNonNull(actions.get(tree.skill()))));
    }
    next = within(next);
    List<TrainingRow> made = new ArrayList<>();
    for (SkillTree tree : next) {
      for (Subskill each : tree.subskills()) {
        if (each.allocation() > 0) {
          RowMaker.RowOrder order =
              new RowMaker.RowOrder(
                  tree.skill(),
                  each.name(),
                  each.generated(),
                  each.allocation(),
                  errors(sight, tree.skill() + "/" + each.name()));
          made.addAll(maker.rows(sight.occasion(), order));
        }
      }
    }
    return new Proposal(actions, next, made);
  }

  private static List<AnsweredItem> errors(Sight sight, String leaf) {
    return sight.answers().stream()
        .filter(each -> !each.correct() && each.item().leaf().equals(leaf))
        .limit(ERRORS)
        .toList();
  }

  /** The trees of the state, and an empty one for each further skill that validation has. */
  private List<SkillTree> trees(Sight sight) {
    Map<String, SkillTree> trees = new TreeMap<>();
    sight.report().skills().forEach(each -> trees.put(each.name(), SkillTree.of(each.name())));
    sight.state().trees().forEach(each -> trees.put(each.skill(), each));
    if (growth instanceof Growth.Divided) {
      trees.replaceAll(
          (skill, tree) ->
              tree.subskills().isEmpty() ? tree.explored(names(sight, skill), 0) : tree);
    }
    return List.copyOf(trees.values());
  }

  private static List<String> names(Sight sight, String skill) {
    return sight.report().leaves().stream()
        .map(SkillSlice::name)
        .filter(each -> each.startsWith(skill + "/"))
        .map(each -> each.substring(skill.length() + 1))
        .toList();
  }

  private List<SkillTree> pruned(List<SkillTree> trees, TrialState state) {
    if (patience == 0) {
      return trees;
    }
    List<SkillTree> all = new ArrayList<>();
    for (SkillTree tree : trees) {
      Map<String, List<Double>> rewards = new HashMap<>();
      for (TrialState.TrialStep step : state.steps()) {
        for (SkillReward reward : step.rewards()) {
          String name = reward.skill();
          boolean paid = step.kept().getOrDefault(name, 0) > 0;
          if (paid && name.startsWith(tree.skill() + "/")) {
            rewards
                .computeIfAbsent(name.substring(tree.skill().length() + 1), _ -> new ArrayList<>())
                .add(reward.value());
          }
        }
      }
      SkillTree cut = tree;
      for (String name : SkillPolicy.withoutGain(tree, rewards, patience)) {
        cut = cut.pruned(name);
      }
      all.add(cut);
    }
    return all;
  }

  private Map<String, SkillAction> divided(RowShares shares, List<SkillTree> trees, Sight sight) {
    Map<String, Double> accuracies = new TreeMap<>();
    for (SkillTree tree : trees) {
      for (Subskill each : tree.subskills()) {
        String path = tree.skill() + "/" + each.name();
        if (!each.pruned()) {
          accuracies.put(path, sight.report().leaf(path).map(SkillSlice::smoothed).orElse(0.5));
        }
      }
    }
    Map<String, Integer> given =
        accuracies.isEmpty() ? Map.of() : shares.divide(rows, accuracies, seed(sight, "shares"));
    Map<String, SkillAction> actions = new TreeMap<>();
    for (SkillTree tree : trees) {
      Map<String, Integer> delta = new TreeMap<>();
      tree.subskills()
          .forEach(
              each ->
                  delta.put(
                      each.name(),
                      given.getOrDefault(tree.skill() + "/" + each.name(), 0) - each.allocation()));
      actions.put(tree.skill(), new SkillAction.Exploit(delta));
    }
    return actions;
  }

  private static Map<String, SkillAction> separate(
      SkillPolicy policy, List<SkillTree> trees, Sight sight) {
    Map<String, SkillAction> actions = new TreeMap<>();
    for (SkillTree tree : trees) {
      Map<String, SkillSlice> slices = new TreeMap<>();
      for (Subskill each : tree.subskills()) {
        sight
            .report()
            .leaf(tree.skill() + "/" + each.name())
            .ifPresent(slice -> slices.put(each.name(), slice));
      }
      actions.put(
          tree.skill(),
          policy.next(
              new SkillHistory(tree, steps(tree.skill(), sight.state()), slices),
              seed(sight, tree.skill())));
    }
    return actions;
  }

  private static List<SkillStep> steps(String skill, TrialState state) {
    List<SkillStep> steps = new ArrayList<>();
    for (TrialState.TrialStep step : state.steps()) {
      SkillAction action = step.actions().get(skill);
      if (action != null) {
        int kept =
            step.kept().entrySet().stream()
                .filter(each -> each.getKey().startsWith(skill + "/"))
                .mapToInt(Map.Entry::getValue)
                .sum();
        double reward =
            step.rewards().stream()
                .filter(each -> each.skill().equals(skill))
                .mapToDouble(SkillReward::value)
                .findFirst()
                .orElse(0);
        steps.add(new SkillStep(action, kept, reward));
      }
    }
    return steps;
  }

  private SkillTree acted(Sight sight, SkillTree tree, SkillAction action) throws IOException {
    return switch (action) {
      case SkillAction.Explore(int wanted, int each) -> {
        List<String> known = tree.subskills().stream().map(Subskill::name).toList();
        List<String> names =
            maker.subskills(sight.occasion(), tree.skill(), known, wanted).stream()
                .filter(name -> !known.contains(name))
                .distinct()
                .limit(wanted)
                .toList();
        yield tree.explored(names, each);
      }
      case SkillAction.Exploit(Map<String, Integer> delta) -> tree.exploited(delta);
    };
  }

  /** Lowers allocations in proportion, if all trees together have more than the rows. */
  private List<SkillTree> within(List<SkillTree> trees) {
    int sum = trees.stream().mapToInt(SkillTree::allocated).sum();
    return sum <= rows
        ? trees
        : trees.stream()
            .map(tree -> tree.within((int) ((long) tree.allocated() * rows / sum)))
            .toList();
  }

  private static long seed(Sight sight, String use) {
    return SplitMix64.mix(
        sight.occasion().seed() * 1_000_003 + sight.occasion().iteration() * 31L + use.hashCode());
  }
}
