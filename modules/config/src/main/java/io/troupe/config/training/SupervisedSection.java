package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.util.List;

/** Examples imitated within each training step, beside its rollouts. */
public record SupervisedSection(
    @Doc("Multiplies the mean negative log-likelihood of the examples; 0 means no examples.")
        @Default("0.0")
        @Range(min = 0)
        double coefficient,
    @Doc(
            value =
                "Examples in each step: rows of `datasets`, all of them once before any comes"
                    + " again; without data sets, reference answers of training prompts, in the"
                    + " order of the warm-up's.",
            unit = "sequences")
        @Default("0")
        @Range(min = 0, max = 1_000_000)
        int batch,
    @Doc("Data sets whose rows are imitated, instead of the reference answers.")
        List<ImitatedDataSet> datasets)
    implements Validated {
  @Override
  public void check(RuleChecker rules) {
    rules
        .on("batch", "coefficient")
        .require(
            () -> (batch == 0) == (coefficient == 0),
            "must be above 0 exactly when coefficient is",
            "set both, or neither");
    rules
        .on("datasets", "batch")
        .require(
            () -> datasets.isEmpty() || batch > 0,
            "must be empty unless supervised.batch is above 0",
            "set coefficient and batch, or remove the data sets");
    rules
        .on("datasets")
        .require(
            () ->
                datasets.stream()
                    .allMatch(set -> set.heldOutShare() == 0 && set.heldOutFile().isEmpty()),
            "must hold nothing out: a run measures its own held-out prompts",
            "remove held_out_share and held_out_file, or measure the rows with troupe sft");
  }
}
