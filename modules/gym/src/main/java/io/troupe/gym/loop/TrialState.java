package io.troupe.gym.loop;

import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.SkillReward;
import io.troupe.gym.skill.SkillAction;
import io.troupe.gym.skill.SkillTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The place of a trial, and all that later decisions read.
 *
 * @param phase next work
 * @param iteration in which it is to be done; 0 is the base
 * @param trees of all skills
 * @param measured validations, by iteration; iterations without rows have none
 * @param tested tests, by iteration
 * @param steps actions of the agent, one entry an iteration with rows
 * @param best the chosen iteration; -1 before it is chosen
 * @param ended why the trial ended; empty before it has
 */
public record TrialState(
    Phase phase,
    int iteration,
    List<SkillTree> trees,
    List<Measured> measured,
    List<Measured> tested,
    List<TrialStep> steps,
    int best,
    String ended) {
  /** The kinds of work of a trial, in order. */
  public enum Phase {
    BASE,
    VALIDATE,
    PROPOSE,
    CHECK,
    TRAIN,
    TEST,
    ENDED
  }

  /**
   * A report of one iteration's student.
   *
   * @param spend of the whole gym until then
   */
  public record Measured(int iteration, GymReport report, Spend spend) {}

  /**
   * The result of one iteration.
   *
   * @param kept rows by leaf
   * @param refused rows by reason
   * @param rewards none before the validation
   */
  public record TrialStep(
      int iteration,
      Map<String, SkillAction> actions,
      Map<String, Integer> kept,
      Map<String, Integer> refused,
      List<SkillReward> rewards) {
    public TrialStep {
      actions = Map.copyOf(actions);
      kept = Map.copyOf(kept);
      refused = Map.copyOf(refused);
      rewards = List.copyOf(rewards);
    }

    /** Returns the rows that were kept. */
    public int rows() {
      return kept.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  /** A trial that has not begun. */
  static final TrialState NEW =
      new TrialState(Phase.BASE, 0, List.of(), List.of(), List.of(), List.of(), -1, "");

  public TrialState {
    trees = List.copyOf(trees);
    measured = List.copyOf(measured);
    tested = List.copyOf(tested);
    steps = List.copyOf(steps);
  }

  /** Returns the rows that were kept in all iterations. */
  public int rows() {
    return steps.stream().mapToInt(TrialStep::rows).sum();
  }

  /** Returns the iterations whose students are tested: base, best and last. */
  List<Integer> toTest() {
    return List.of(0, best, measured.getLast().iteration()).stream().distinct().sorted().toList();
  }

  /** Returns the iteration with the highest validation accuracy; of equal ones the earliest. */
  int bestMeasured() {
    Measured chosen = measured.getFirst();
    for (Measured each : measured) {
      if (each.report().overall().accuracy() > chosen.report().overall().accuracy()) {
        chosen = each;
      }
    }
    return chosen.iteration();
  }

  TrialState at(Phase next, int inIteration) {
    return new TrialState(next, inIteration, trees, measured, tested, steps, best, ended);
  }

  TrialState with(List<SkillTree> other) {
    return new TrialState(phase, iteration, other, measured, tested, steps, best, ended);
  }

  TrialState measured(GymReport report, Spend spend) {
    List<Measured> more = plus(measured, new Measured(iteration, report, spend));
    return new TrialState(phase, iteration, trees, more, tested, steps, best, ended);
  }

  TrialState tested(int of, GymReport report, Spend spend) {
    List<Measured> more = plus(tested, new Measured(of, report, spend));
    return new TrialState(phase, iteration, trees, measured, more, steps, best, ended);
  }

  TrialState stepped(TrialStep step) {
    List<TrialStep> more = new ArrayList<>(steps);
    if (!more.isEmpty() && more.getLast().iteration() == step.iteration()) {
      more.removeLast();
    }
    more.add(step);
    return new TrialState(phase, iteration, trees, measured, tested, more, best, ended);
  }

  TrialState chose(int chosen) {
    return new TrialState(phase, iteration, trees, measured, tested, steps, chosen, ended);
  }

  TrialState ended(String reason) {
    return new TrialState(Phase.ENDED, iteration, trees, measured, tested, steps, best, reason);
  }

  private static <T> List<T> plus(List<T> some, T more) {
    List<T> all = new ArrayList<>(some);
    all.add(more);
    return all;
  }
}
