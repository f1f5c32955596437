package io.troupe.config.evaluation;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import java.util.List;
import java.util.stream.Stream;

/**
 * An evaluation that a run makes beside its own, with prompts, interval and sampling of its own.
 */
public record NamedEvaluation(
    @Doc("Name in metrics (`eval_NAME`): small letters, digits and underscores.") String name,
    @Doc(value = "Steps between two of them, the first before step 1.", unit = "steps")
        @Range(min = 1)
        int every,
    @Inline EvaluationKeys keys)
    implements Validated {
  /** The name of the evaluation that the section {@code evaluation} describes. */
  public static final String HELD_OUT = "held_out";

  private static final String REWARD = "reward";

  /** The evaluations of a run by their names, its own first. */
  public static List<String> shares(List<NamedEvaluation> evaluations) {
    return Stream.concat(Stream.of(HELD_OUT), evaluations.stream().map(NamedEvaluation::name))
        .toList();
  }

  /** The name of an evaluation's mean reward, which is that of its metric behind `eval_`. */
  public static String rewardOf(String evaluation) {
    return evaluation.equals(HELD_OUT) ? REWARD : evaluation + "_" + REWARD;
  }

  /** States that each of a run's {@code evaluations} has a name of its own. */
  public static void checkNames(RuleChecker rules, List<NamedEvaluation> evaluations) {
    List<String> names = evaluations.stream().map(NamedEvaluation::name).toList();
    rules
        .on("evaluations")
        .require(
            () -> names.stream().distinct().count() == names.size(),
            "must have a name of its own for each",
            "rename one");
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("name")
        .require(
            () -> name.matches("[a-z0-9_]{1,40}") && !name.equals(HELD_OUT),
            "must be of small letters, digits and underscores, and not held_out, which is the run's"
                + " own",
            "write for example math_sampled");
    rules
        .on("name")
        .require(
            () -> !name.equals(REWARD) && !name.endsWith("_" + REWARD),
            "must be no reward and not end in _reward, as the metrics eval_reward and"
                + " eval_NAME_reward do",
            "write for example math_sampled");
  }
}
