package io.troupe.config.supervised;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.core.train.LearningRateSchedule.Decay;
import io.troupe.engine.train.OptimizerSettings;
import java.util.List;

/** The steps of supervised training. */
@Doc("Supervised training")
public record SupervisedTrainingSection(
    @Doc(value = "Steps after which the run ends; 0: no limit.", unit = "steps")
        @Default("0")
        @Range(min = 0, max = 1e9)
        int steps,
    @Doc(value = "Passes over the rows after which the run ends; 0: no limit.", unit = "epochs")
        @Default("0")
        @Range(min = 0, max = 1e6)
        int epochs,
    @Doc(value = "Rows of a step.", unit = "rows") @Range(min = 1, max = 1_000_000) int batch,
    @Doc(
            value =
                "Steps between two measurements of the loss on held-out rows, the first before"
                    + " step 1; 0 means never.",
            unit = "steps")
        @Default("50")
        @Range(min = 0)
        int evaluateEvery,
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
        double gradientClip)
    implements Validated {
  public SupervisedTrainingSection {
    noDecay = List.copyOf(noDecay);
  }

  /** Which of so many rows enter which step. */
  public SupervisedPlan plan(int rows, long seed) {
    return SupervisedPlan.of(rows, batch, seed, steps, epochs);
  }

  /** AdamW in a step of a run of so many. */
  public OptimizerSettings optimisation(long step, long of) {
    return new OptimizerSettings(
        new LearningRateSchedule(learningRate, scheduleWarmupSteps, schedule, scheduleFloor)
            .at(step, of),
        beta1,
        beta2,
        epsilon,
        weightDecay,
        gradientClip);
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("steps", "epochs")
        .require(
            () -> steps > 0 || epochs > 0,
            "must be greater than 0 where epochs is 0, or the run never ends",
            "set one of the two");
    rules
        .on("schedule_warmup_steps", "steps")
        .require(
            () -> steps == 0 || scheduleWarmupSteps < steps,
            "must be below steps (%d), or the peak is never reached".formatted(steps),
            "lower it, or train longer");
  }
}
