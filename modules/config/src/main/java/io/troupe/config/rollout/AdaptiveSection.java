package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.core.rollout.GroupSize;

/** Groups that grow until enough completions are right and enough are wrong. */
public record AdaptiveSection(
    @Doc(value = "Completions that pass and end the growth of a group.", unit = "completions")
        @Default("0")
        @Range(min = 0, max = 4096)
        int right,
    @Doc(
            value = "Completions that do not pass and end the growth of a group.",
            unit = "completions")
        @Default("0")
        @Range(min = 0, max = 4096)
        int wrong,
    @Doc(
            value =
                "Completions at which a group ends in any case; 0 means that groups do not grow.",
            unit = "completions")
        @Default("0")
        @Range(min = 0, max = 4096)
        int maxCompletions)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("max_completions", "right", "wrong")
        .require(
            () -> (maxCompletions > 0) == (right + wrong > 0),
            "must be above 0 exactly when right or wrong is",
            "set it and one of the two, or none of the three");
    rules
        .on("right", "wrong", "max_completions")
        .require(
            () -> right + wrong <= maxCompletions,
            "must leave room for wrong (%d) in max_completions (%d)"
                .formatted(wrong, maxCompletions),
            "lower one of the two, or raise max_completions");
  }

  /** The sizes of groups whose parts are of {@code completions}. */
  GroupSize of(int completions) {
    return maxCompletions == 0
        ? GroupSize.fixed(completions)
        : new GroupSize(completions, right, wrong, maxCompletions);
  }
}
