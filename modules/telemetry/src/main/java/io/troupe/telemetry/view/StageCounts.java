package io.troupe.telemetry.view;

import java.util.HashMap;
import java.util.Map;

/** The number of live groups in each stage, kept as they move. */
final class StageCounts {
  private final Map<String, Long> counts = new HashMap<>();

  void add(String stage) {
    counts.merge(stage, 1L, Long::sum);
  }

  void remove(String stage) {
    counts.merge(stage, -1L, Long::sum);
  }

  void clear() {
    counts.clear();
  }

  long of(String stage) {
    return counts.getOrDefault(stage, 0L);
  }
}
