package io.troupe.config.supervised;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.training.OptimizerKeys;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.engine.train.OptimizerSettings;

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
    @Inline OptimizerKeys optimizer)
    implements Validated {
  /** Returns the plan of the rows of each step. */
  public SupervisedPlan plan(int rows, long seed) {
    return SupervisedPlan.of(rows, batch, seed, steps, epochs);
  }

  /** AdamW in a step of a run of {@code steps}. */
  public OptimizerSettings optimisation(long step, long steps) {
    return optimizer.settings(optimizer.learningRates().at(step, steps));
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("steps", "epochs")
        .require(
            () -> steps > 0 || epochs > 0,
            "must be greater than 0 where epochs is 0, or the run never ends",
            "set one of the two");
    optimizer.checkWarmup(rules, steps);
  }
}
