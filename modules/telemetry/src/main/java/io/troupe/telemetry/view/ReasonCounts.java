package io.troupe.telemetry.view;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts by reason, of bounded number and length. Reasons that differ in their numbers alone are
 * one, under the first that was met.
 */
final class ReasonCounts {
  private static final int MOST_REASONS = 30;

  /** Characters kept of each end of a reason: a traceback names its error in its last line. */
  private static final int END = 120;

  private static final String OTHER = "other reasons";

  private final Map<String, String> shown = new LinkedHashMap<>();
  private final Map<String, Long> counts = new LinkedHashMap<>();

  /** A reason as it is shown, and how often one of its kind was met. */
  record Counted(String reason, long times) {}

  /** Counts a reason. */
  Counted add(String reason) {
    String text = shortened(reason.strip().replaceAll("\\s+", " "));
    String kind = text.replaceAll("\\d+", "N");
    boolean known = shown.containsKey(kind) || shown.size() < MOST_REASONS;
    String first = known ? shown.computeIfAbsent(kind, _ -> text) : OTHER;
    return new Counted(first, counts.merge(first, 1L, Long::sum));
  }

  private static String shortened(String line) {
    return line.length() <= 2 * END
        ? line
        : line.substring(0, END) + " … " + line.substring(line.length() - END);
  }

  /** Returns the counts by the first reason of each kind, in the order in which they were met. */
  Map<String, Long> asMap() {
    return new LinkedHashMap<>(counts);
  }
}
