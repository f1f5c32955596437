package io.troupe.core.prompt;

import java.util.List;

/**
 * The row of a data set that a prompt was made of, for verifiers that read more than its answer.
 *
 * @param json its columns by name, as a JSON object on one line
 * @param leftOut names of the columns that are not in {@code json}, because they are too long or of
 *     a type without a JSON form
 */
public record DataRow(String json, List<String> leftOut) {
  /** No columns: the prompt comes from no row, or nothing reads its row. */
  public static final DataRow NONE = new DataRow("{}", List.of());

  public DataRow {
    leftOut = List.copyOf(leftOut);
  }
}
