package io.troupe.config.evaluation;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.task.DataSetSection;
import java.util.List;

/** The prompts of an evaluation and how each is sampled. */
@Doc("Prompts and sampling of an evaluation")
public record EvaluationKeys(
    @Doc(
            "Data sets that are evaluated, each a section as `task` with its own wording, examples,"
                + " stops, limits and verifier mode; none means the run's held-out rows.")
        List<DataSetSection> datasets,
    @Doc("Rows of `datasets` that are evaluated: `all`, or those that the data set holds out.")
        @Default("all")
        Part part,
    @Doc(
            value = "Most prompts, always the same ones, spread over all rows; 0 means all.",
            unit = "prompts")
        @Default("500")
        @Range(min = 0)
        int prompts,
    @Doc(value = "Completions of each prompt; more than one need a temperature.", unit = "samples")
        @Default("1")
        @Range(min = 1, max = 100_000)
        int samples,
    @Inline EvaluationSampling sampling)
    implements Validated {
  /** The part of a data set whose rows are evaluated. */
  public enum Part {
    ALL,
    HELD_OUT
  }

  /**
   * Returns these keys with another number of samples, at a temperature at which samples differ.
   */
  public EvaluationKeys withSamples(int other) {
    boolean alike = other > 1 && sampling.temperature() == 0;
    return new EvaluationKeys(
        datasets, part, prompts, other, alike ? sampling.withTemperature(1) : sampling);
  }

  /** Returns these keys with another number of prompts. */
  public EvaluationKeys withPrompts(int other) {
    return new EvaluationKeys(datasets, part, other, samples, sampling);
  }

  /** Returns these keys with another sampling. */
  public EvaluationKeys with(EvaluationSampling other) {
    return new EvaluationKeys(datasets, part, prompts, samples, other);
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("samples", "temperature")
        .require(
            () -> samples == 1 || sampling.temperature() > 0,
            "must be 1 at temperature 0, where all completions of a prompt are equal",
            "set temperature to 1, or samples to 1");
  }
}
