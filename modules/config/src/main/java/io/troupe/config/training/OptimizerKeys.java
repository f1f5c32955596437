package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.core.train.LearningRateSchedule.Decay;
import io.troupe.engine.train.OptimizerSettings;
import java.util.List;

/** AdamW and its learning rate, of every kind of training. */
public record OptimizerKeys(
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
        double gradientClip) {
  public OptimizerKeys {
    noDecay = List.copyOf(noDecay);
  }

  /** The learning rate of each step. */
  public LearningRateSchedule learningRates() {
    return new LearningRateSchedule(learningRate, scheduleWarmupSteps, schedule, scheduleFloor);
  }

  /** AdamW with a step's learning rate. */
  public OptimizerSettings settings(double rate) {
    return new OptimizerSettings(rate, beta1, beta2, epsilon, weightDecay, gradientClip);
  }

  /**
   * States that the warm-up ends before the run.
   *
   * @param steps of the run; 0 means no limit
   */
  public void checkWarmup(RuleChecker rules, int steps) {
    rules
        .on("schedule_warmup_steps", "steps")
        .require(
            () -> steps == 0 || scheduleWarmupSteps < steps,
            "must be below steps (%d), or the peak is never reached".formatted(steps),
            "lower it, or train longer");
  }
}
