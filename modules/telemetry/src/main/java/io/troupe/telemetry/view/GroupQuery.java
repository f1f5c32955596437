package io.troupe.telemetry.view;

import java.util.Comparator;
import java.util.Locale;

/**
 * The groups to show, and their order.
 *
 * @param only all, live, degenerate, stale, troubled (some lease ended badly), or a stage
 * @param order newest, longest (most tokens), oldest, reward
 * @param limit most rows
 */
public record GroupQuery(String only, String order, int limit) {
  /** Most rows of one answer. */
  public static final int MAX_ROWS = 1_000;

  public GroupQuery {
    only = only.toLowerCase(Locale.ROOT);
    order = order.toLowerCase(Locale.ROOT);
    limit = Math.clamp(limit, 1, MAX_ROWS);
  }

  boolean takes(GroupTimeline life) {
    return switch (only) {
      case "", "all" -> true;
      case "live" -> life.endedAt == 0;
      case "degenerate" -> !life.answer.isEmpty() && life.spread() == 0;
      case "stale" -> life.staleness > 0;
      case "troubled" -> !life.trouble.isEmpty();
      default -> life.stage.equals(only);
    };
  }

  Comparator<GroupTimeline> comparator() {
    Comparator<GroupTimeline> newest =
        Comparator.comparingLong((GroupTimeline life) -> life.group).reversed();
    return switch (order) {
      case "longest" ->
          Comparator.comparingLong(GroupTimeline::tokens).reversed().thenComparing(newest);
      case "oldest" ->
          Comparator.comparingLong((GroupTimeline life) -> life.since).thenComparing(newest);
      case "reward" ->
          Comparator.comparingDouble(GroupTimeline::reward).reversed().thenComparing(newest);
      default -> newest;
    };
  }
}
