package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;

/** Reference answers imitated within each training step, beside its rollouts. */
public record SupervisedSection(
    @Doc("Multiplies the mean negative log-likelihood of the examples; 0 means no examples.")
        @Default("0.0")
        @Range(min = 0)
        double coefficient,
    @Doc(
            value =
                "Reference answers of training prompts in each step, in the order of the"
                    + " warm-up's.",
            unit = "sequences")
        @Default("0")
        @Range(min = 0, max = 1_000_000)
        int batch)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("batch", "coefficient")
        .require(
            () -> (batch == 0) == (coefficient == 0),
            "must be above 0 exactly when coefficient is",
            "set both, or neither");
  }
}
