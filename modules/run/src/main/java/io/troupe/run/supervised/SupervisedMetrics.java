package io.troupe.run.supervised;

import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.core.supervised.SupervisedStep;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the rows of metrics.jsonl from the events of a supervised run: one a step, and one of step
 * 0 where the first weights were evaluated.
 */
final class SupervisedMetrics {
  private final SupervisedPlan plan;
  private final Map<String, Object> row = new LinkedHashMap<>();
  private long tokens;

  SupervisedMetrics(SupervisedPlan plan) {
    this.plan = plan;
  }

  /** Returns the rows of a history, whose last one may lack evaluations. */
  List<Map<String, Object>> rows(SupervisedHistory history) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (SupervisedEvent event : history.events()) {
      if (begins(event) && !row.isEmpty()) {
        rows.add(take());
      }
      add(event);
    }
    return rows;
  }

  private static boolean begins(SupervisedEvent event) {
    return event instanceof SupervisedEvent.Stepped || event instanceof SupervisedEvent.StepSkipped;
  }

  /** Adds what happened to the present row. */
  void add(SupervisedEvent event) {
    switch (event) {
      case SupervisedEvent.Stepped(SupervisedStep step) -> {
        tokens += step.tokens();
        head(step.step());
        row.put("loss", step.loss());
        row.put("gradient_norm", step.gradientNorm());
        row.put("learning_rate", step.learningRate());
        row.put("rows", step.rows());
        row.put("tokens", step.tokens());
        row.put("tokens_total", tokens);
        row.put("padding_share", step.paddingShare());
        row.put("step_s", step.seconds());
        row.put("tokens_per_s", step.tokens() / Math.max(step.seconds(), 1e-9));
      }
      case SupervisedEvent.StepSkipped(long step, String reason) -> {
        head(step);
        row.put("skipped", reason);
      }
      case SupervisedEvent.Evaluated(long step, String name, double value) -> {
        if (row.isEmpty()) {
          head(step);
        }
        row.put(name, value);
      }
      case SupervisedEvent.Started _,
          SupervisedEvent.CheckpointSaved _,
          SupervisedEvent.Ended _ -> {}
    }
  }

  private void head(long step) {
    row.put("step", step);
    row.put("epoch", plan.epochsAfter(step));
  }

  /** The present row, of which nothing more comes; empty if there is none. */
  Map<String, Object> take() {
    Map<String, Object> taken = new LinkedHashMap<>(row);
    row.clear();
    return taken;
  }
}
