package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.core.rollout.StalePolicy;

/** The training steps: what enters one, and how it moves the weights. */
public record TrainingSection(
    @Doc(value = "Training steps of the run.", unit = "steps") @Range(min = 1, max = 1e9) int steps,
    @Doc(
            value = "Passes over the training prompts after which the run ends early; 0: no limit.",
            unit = "epochs")
        @Default("0")
        @Range(min = 0, max = 1e9)
        int epochs,
    @Doc(value = "B, the batch of a step.", unit = "groups") @Range(min = 1, max = 1_000_000)
        int groupsPerStep,
    @Doc(
            value =
                "η: a token sampled by weights more than this many versions behind the trainer gets"
                    + " no loss weight. 0 is synchronous training.",
            unit = "versions")
        @Default("1")
        @Range(min = 0, max = 1000)
        int maxStaleness,
    @Doc(
            "What becomes of stale groups: `mask` keeps them without their stale tokens, `drop`"
                + " samples them again, `wait` holds the step for the oldest group.")
        @Default("mask")
        StalePolicy stale,
    @Doc(
            value =
                "K: steps that train on a group, at most. Each use is a version later than the one"
                    + " before, so K is `max_staleness` + 1 at most. A group whose tokens became"
                    + " stale ends with the uses that it had.",
            unit = "steps")
        @Default("1")
        @Range(min = 1, max = 1000)
        int groupUses,
    @Doc("Whether groups with equal rewards, which teach nothing, are put aside.") @Default("true")
        boolean filterDegenerate,
    @Inline OptimizerKeys optimizer,
    @Doc(
            value =
                "A run with this many degenerate groups in a row is given up as hopeless; 0 means"
                    + " 50 × groups_per_step.",
            unit = "groups")
        @Default("0")
        @Range(min = 0)
        int maxFilteredGroups)
    implements Validated {
  /** Filtered groups in a row that end the run. */
  public long cannotProgressAfter() {
    return maxFilteredGroups == 0 ? 50L * groupsPerStep : maxFilteredGroups;
  }

  @Override
  public void check(RuleChecker rules) {
    optimizer.checkWarmup(rules, steps);
    rules
        .on("group_uses", "max_staleness")
        .require(
            () -> groupUses <= maxStaleness + 1,
            "must be at most max_staleness + 1 (%d), because each use is a version later"
                .formatted(maxStaleness + 1),
            "choose fewer uses");
  }
}
