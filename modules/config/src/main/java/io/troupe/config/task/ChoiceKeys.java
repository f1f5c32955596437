package io.troupe.config.task;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.core.prompt.PromptSampling;

/** The keys of the choice of a task's next prompt. */
@Doc("Choice of the next prompt")
public record ChoiceKeys(
    @Doc(
            "How the next prompt is chosen: `uniform` takes each once an epoch; `difficulty` passes"
                + " over those that promise a group of equal rewards, by what was measured of each"
                + " (docs/algorithms.md). A part of a mixture leaves it to the mixture.")
        @Default("uniform")
        Rule sampling,
    @Doc(
            "Under `sampling: difficulty`, the share of the epochs in which a prompt is admitted"
                + " that would be passed over.")
        @Default("0.25")
        @Range(min = 0, minExclusive = true, max = 1)
        double exploration) {
  /** The rule by which the next prompt is chosen. */
  public enum Rule {
    UNIFORM,
    DIFFICULTY
  }

  /** The rule in the core's terms, before a listed order is taken into account. */
  public PromptSampling rule() {
    return switch (sampling) {
      case UNIFORM -> PromptSampling.UNIFORM;
      case DIFFICULTY -> new PromptSampling(false, true, exploration);
    };
  }
}
