package io.troupe.evaluation;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.Map;

/**
 * A named set of prompts that are sampled alike.
 *
 * @param name unique in its evaluation
 * @param samples of each prompt
 * @param protocol the summary's record of its settings and digests
 */
public record EvaluationTask(
    String name, List<EvaluationItem> items, int samples, Map<String, Object> protocol) {
  public EvaluationTask {
    items = List.copyOf(items);
    require(samples >= 1, "a prompt has at least one sample, not %d", samples);
  }
}
