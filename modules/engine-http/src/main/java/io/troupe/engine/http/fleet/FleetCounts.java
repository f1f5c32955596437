package io.troupe.engine.http.fleet;

import io.troupe.engine.http.protocol.CheckedCompletion;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The counters of a fleet. Guarded by the lock of {@link FleetState}. */
final class FleetCounts {
  private final Map<CheckedCompletion.Reason, Long> refused =
      new EnumMap<>(CheckedCompletion.Reason.class);
  long completions;
  long retries;
  long continued;
  long failures;
  long updates;
  long updatesFailed;

  void refused(CheckedCompletion.Reason reason) {
    refused.merge(reason, 1L, Long::sum);
  }

  String line() {
    String reasons =
        refused.entrySet().stream()
            .map(entry -> entry.getKey().name().toLowerCase(Locale.ROOT) + "=" + entry.getValue())
            .collect(Collectors.joining(","));
    return "completions=%d retries=%d continued=%d failures=%d updates=%d updates_failed=%d refused=%s"
        .formatted(
            completions,
            retries,
            continued,
            failures,
            updates,
            updatesFailed,
            reasons.isEmpty() ? "none" : reasons);
  }
}
