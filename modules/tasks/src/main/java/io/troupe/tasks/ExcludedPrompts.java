package io.troupe.tasks;

import io.troupe.tasks.rows.RefusedRows;
import io.troupe.tasks.rows.TaskDataException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The prompts or rows of a data set that a run does not use for one reason.
 *
 * @param source of the prompts; the name of the data set if they are rows
 * @param count number of those left out
 * @param all number before leaving out
 * @param what the kind, in the plural, such as "rows"
 * @param reason as an attribute of the kind, such as "without tests"
 * @param example id of the first one
 * @param remedy advice that names the key to change
 */
public record ExcludedPrompts(
    String source, int count, int all, String what, String reason, String example, String remedy) {
  /** {@code apps: 2 of 4 rows left out, without tests, such as apps_6; add tests to the data}. */
  public String describe() {
    return source + ": " + withoutSource();
  }

  private String withoutSource() {
    return String.format(
        Locale.ROOT,
        "%,d of %,d %s left out, %s, such as %s; %s",
        count,
        all,
        what,
        reason,
        example,
        remedy);
  }

  /**
   * Returns rows that break a rule, those of one rule together.
   *
   * @param source of the rows
   * @param what the kind, in the plural
   */
  public static List<ExcludedPrompts> refused(String source, String what, RefusedRows rows) {
    return rows.breaches().stream()
        .map(
            breach ->
                new ExcludedPrompts(
                    source,
                    breach.count(),
                    rows.rows(),
                    what,
                    "refused because " + breach.first(),
                    breach.places().getFirst(),
                    "correct or remove them"))
        .toList();
  }

  /**
   * Returns the reason why a run cannot start on a data set without prompts.
   *
   * @param place of the data
   * @param purpose of the missing prompts, such as "to train on"
   */
  static TaskDataException nothing(String place, String purpose, List<ExcludedPrompts> left) {
    return new TaskDataException(
        "%s: nothing is left %s%s"
            .formatted(
                place,
                purpose,
                left.isEmpty()
                    ? ", because it has no rows"
                    : left.stream()
                        .map(ExcludedPrompts::withoutSource)
                        .collect(Collectors.joining("; ", ": ", ""))));
  }
}
