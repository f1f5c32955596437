package io.troupe.telemetry.export;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The names of a run's metrics in trackers: the name of metrics.jsonl behind a group, such as
 * {@code train/loss}. Trackers make a section of plots of each group.
 */
public final class MetricGroups {
  private static final String STEP = "step";
  private static final String HELD_OUT = "eval";
  private static final String EVALUATION = "eval_";
  private static final String VERIFIER = "verifier_";
  private static final String EPISODE = "episode_";
  private static final Set<String> TIMES =
      Set.of(
          "seconds",
          "train_seconds",
          "gradient_seconds",
          "optimizer_seconds",
          "reference_seconds",
          "wait_seconds",
          "cpu_seconds");
  private static final Set<String> ROLLOUT =
      Set.of(
          "length",
          "lost_share",
          "degenerate_share",
          "tokens_per_second",
          "groups",
          "filtered",
          "requeued",
          "refused",
          "all_right_share",
          "all_wrong_share",
          "stop_share",
          "stop_string_share",
          "length_share",
          "reward_length_correlation",
          "length_right",
          "length_wrong");

  private MetricGroups() {}

  /** The name of a metric in trackers. */
  public static String name(String metric) {
    if (metric.equals(HELD_OUT)) {
      return "eval/held_out";
    }
    if (metric.startsWith(EVALUATION)) {
      return "eval/" + metric.substring(EVALUATION.length());
    }
    if (metric.startsWith(VERIFIER)) {
      return "verifier/" + metric.substring(VERIFIER.length());
    }
    if (metric.startsWith(EPISODE)) {
      return "episode/" + metric.substring(EPISODE.length());
    }
    if (TIMES.contains(metric)) {
      return "time/" + metric;
    }
    return (ROLLOUT.contains(metric) ? "rollout/" : "train/") + metric;
  }

  /** The finite numbers of a row of metrics.jsonl but its step, by their names in trackers. */
  public static Map<String, Double> numbers(Map<String, Object> row) {
    Map<String, Double> numbers = new LinkedHashMap<>();
    row.forEach(
        (metric, value) -> {
          if (value instanceof Number number
              && Double.isFinite(number.doubleValue())
              && !metric.equals(STEP)) {
            numbers.put(name(metric), number.doubleValue());
          }
        });
    return numbers;
  }
}
