package io.troupe.run.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The results of a replay and of its comparisons.
 *
 * @param begin the version that it began with
 * @param training whether the steps alone were made, from stored tokens
 * @param remarks differences between the run's processes and this one
 * @param equal parts that were equal, bit for bit
 * @param versionsHeld most versions of the weights that were in memory at a time
 * @param difference the first; the replay ends there
 */
public record ReplayReport(
    String run,
    long begin,
    boolean training,
    List<String> remarks,
    Equal equal,
    int versionsHeld,
    Duration time,
    Optional<ReplayDifference> difference) {
  private static final double MILLIS = 1e3;

  /**
   * Counts of what was equal.
   *
   * @param steps steps whose batches and weights were equal
   * @param tokens of the completions
   */
  public record Equal(long steps, long groups, long completions, long tokens) {}

  public ReplayReport {
    remarks = List.copyOf(remarks);
  }

  /** For people. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    remarks.forEach(remark -> lines.add("note     " + remark));
    lines.add("begin    v%d".formatted(begin));
    lines.add(
        "equal    %,d steps, %,d groups, %,d completions, %,d tokens, bit for bit"
            .formatted(equal.steps, equal.groups, equal.completions, equal.tokens));
    String seconds = "took     %.1f s".formatted(time.toMillis() / MILLIS);
    lines.add(
        training
            ? seconds + ", training alone, from stored tokens"
            : seconds + ", at most %d versions of the weights in memory".formatted(versionsHeld));
    difference.ifPresent(first -> lines.add("differs  " + first.line()));
    return lines;
  }

  /** For JSON. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("run", run);
    map.put("begin", begin);
    map.put("training", training);
    map.put("remarks", remarks);
    map.put("steps", equal.steps);
    map.put("groups", equal.groups);
    map.put("completions", equal.completions);
    map.put("tokens", equal.tokens);
    map.put("versions_held", versionsHeld);
    map.put("seconds", time.toMillis() / MILLIS);
    map.put("equal", difference.isEmpty());
    difference.ifPresent(first -> map.put("difference", first.toMap()));
    return map;
  }
}
