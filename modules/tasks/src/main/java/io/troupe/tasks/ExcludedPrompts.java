package io.troupe.tasks;

import io.troupe.tasks.rows.TaskDataException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What a data set has and a run does not use, for one reason.
 *
 * @param source of the prompts; the data set's name where they never became prompts
 * @param count how many are left out
 * @param all how many there are
 * @param what they are, in the plural, such as "rows"
 * @param reason after which all of them can be named, such as "without tests"
 * @param example id of the first
 * @param remedy the key to change, as an order
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
   * Why a run cannot start on a data set that has nothing left.
   *
   * @param place of the data
   * @param purpose of what is missing, such as "to train on"
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
