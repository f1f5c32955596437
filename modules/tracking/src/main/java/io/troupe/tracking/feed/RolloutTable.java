package io.troupe.tracking.feed;

import java.util.List;

/**
 * Some rollouts that a step trained on.
 *
 * @param atMillis end of the step, in milliseconds since 1970
 * @param rows each with a value for every column
 */
public record RolloutTable(long step, long atMillis, List<List<Object>> rows) {
  /** The names of the columns. */
  public static final List<String> COLUMNS =
      List.of("step", "group", "prompt_id", "prompt", "completion", "reward", "verdict");

  public RolloutTable {
    rows = List.copyOf(rows);
  }
}
