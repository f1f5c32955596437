package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.core.train.LearningRateSchedule.Decay;
import java.util.List;

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
    @Doc("Whether groups with equal rewards, which teach nothing, are put aside.") @Default("true")
        boolean filterDegenerate,
    @Doc("Peak learning rate of AdamW.") @Range(min = 0, minExclusive = true, max = 1)
        double learningRate,
    @Doc("Shape of the learning rate after its warm-up, down to the floor at the last step.")
        @Default("constant")
        Decay schedule,
    @Doc(value = "Steps over which the learning rate rises from 0.", unit = "steps")
        @Default("0")
        @Range(min = 0)
        int scheduleWarmupSteps,
    @Doc("Where the decay ends, as a share of the peak.") @Default("0.0") @Range(min = 0, max = 1)
        double scheduleFloor,
    @Doc("Decay of AdamW's mean of gradients.")
        @Default("0.9")
        @Range(min = 0, max = 1, maxExclusive = true)
        double beta1,
    @Doc("Decay of AdamW's mean of squared gradients.")
        @Default("0.95")
        @Range(min = 0, max = 1, maxExclusive = true)
        double beta2,
    @Doc("Added to AdamW's denominator.") @Default("1e-8") @Range(min = 0, minExclusive = true)
        double epsilon,
    @Doc("Decoupled weight decay of matrices; norms and biases have none.")
        @Default("0.0")
        @Range(min = 0)
        double weightDecay,
    @Doc(
            "Names of matrices that have no weight decay either, such as `*embed_tokens*`; `*`"
                + " stands for any characters.")
        List<String> noDecay,
    @Doc("Largest global L2 norm of the gradient; 0 means no clipping.")
        @Default("1.0")
        @Range(min = 0)
        double gradientClip,
    @Doc(
            value =
                "A run with this many degenerate groups in a row is given up as hopeless; 0 means"
                    + " 50 × groups_per_step.",
            unit = "groups")
        @Default("0")
        @Range(min = 0)
        int maxFilteredGroups)
    implements Validated {
  public TrainingSection {
    noDecay = List.copyOf(noDecay);
  }

  /** The learning rate of each step. */
  public LearningRateSchedule learningRates() {
    return new LearningRateSchedule(learningRate, scheduleWarmupSteps, schedule, scheduleFloor);
  }

  /** Filtered groups in a row that end the run. */
  public long cannotProgressAfter() {
    return maxFilteredGroups == 0 ? 50L * groupsPerStep : maxFilteredGroups;
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("schedule_warmup_steps", "steps")
        .require(
            () -> scheduleWarmupSteps < steps,
            "must be below steps (%d), or the peak is never reached".formatted(steps),
            "lower it, or train longer");
  }
}
