package io.troupe.evaluation;

import io.troupe.core.prompt.Prompt;
import io.troupe.engine.SamplingSettings;
import java.util.Map;

/**
 * A prompt of an evaluation.
 *
 * @param facets of its row, such as level and subject
 * @param sampling of its completions
 */
public record EvaluationItem(Prompt prompt, Map<String, String> facets, SamplingSettings sampling) {
  public EvaluationItem {
    facets = Map.copyOf(facets);
  }

  /** The prompt's id in all files of an evaluation. */
  String id() {
    return prompt.id().value();
  }
}
