package io.troupe.gym.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.util.HashSet;
import java.util.List;

/** The trials of a gym, and the length of each. */
public record TrialsSection(
    @Doc("Seeds; each has a base student of its own, which all arms of the seed start from.")
        List<Integer> seeds,
    @Doc(
            "Ways to divide the new rows, each a trial a seed: `weakness` gives more to subskills"
                + " that are answered worse, `uniform` the same to each, `random` draws shares;"
                + " `alternating`, `fill_balanced`, `coin` and `threshold` grow each skill's tree"
                + " by a policy of its own; `open_ended` shows some errors at a time, `skill_list`"
                + " those of one subskill; `old_rows` makes nothing new and draws rows of the"
                + " base student.")
        List<Arm> arms,
    @Doc(value = "Rounds of proposing, training and validating.", unit = "iterations")
        @Default("4")
        @Range(min = 1, max = 1000)
        int iterations,
    @Doc(value = "Most new rows of an iteration.", unit = "rows")
        @Default("100")
        @Range(min = 1, max = 1_000_000)
        int rows)
    implements Validated {
  /** The division of new rows. */
  public enum Arm {
    WEAKNESS,
    UNIFORM,
    RANDOM,
    ALTERNATING,
    FILL_BALANCED,
    COIN,
    THRESHOLD,
    OPEN_ENDED,
    SKILL_LIST,
    OLD_ROWS;

    /** Whether the kind of trial divides rows among the subskills that validation has. */
    boolean divides() {
      return this == WEAKNESS || this == UNIFORM || this == RANDOM;
    }
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("seeds")
        .require(
            () -> !seeds.isEmpty() && new HashSet<>(seeds).size() == seeds.size(),
            "must list at least one seed, none twice",
            "write [1, 2, 3]");
    rules
        .on("arms")
        .require(
            () -> !arms.isEmpty() && new HashSet<>(arms).size() == arms.size(),
            "must list at least one arm, none twice",
            "write [weakness, uniform]");
  }
}
