package io.troupe.tasks;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What became of the rows of a source.
 *
 * @param rows read
 * @param left rows left out, by reason in the plural, such as "longer than the context"
 * @param unmatched ids of the order file that no row has
 */
public record SourceReport(int rows, Map<String, Integer> left, List<String> unmatched) {
  public SourceReport {
    left = Map.copyOf(left);
    unmatched = List.copyOf(unmatched);
  }

  /** This report with more rows left out. */
  SourceReport leaving(String reason, int count) {
    if (count == 0) {
      return this;
    }
    Map<String, Integer> more = new TreeMap<>(left);
    more.merge(reason, count, Integer::sum);
    return new SourceReport(rows, more, unmatched);
  }

  SourceReport missing(List<String> ids) {
    return new SourceReport(rows, left, ids);
  }

  /** The report in half a line: {@code 100 rows; left out: 3 rows without tests}. */
  public String text() {
    String out =
        new TreeMap<>(left)
            .entrySet().stream()
                .map(entry -> "%,d %s".formatted(entry.getValue(), entry.getKey()))
                .collect(Collectors.joining(", "));
    return "%,d rows".formatted(rows)
        + (out.isEmpty() ? "" : "; left out: " + out)
        + (unmatched.isEmpty()
            ? ""
            : "; %,d ids of the order file match no row".formatted(unmatched.size()));
  }
}
