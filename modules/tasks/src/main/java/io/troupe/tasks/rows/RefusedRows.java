package io.troupe.tasks.rows;

import java.util.List;

/**
 * The rows of a data set that were refused, by what they break.
 *
 * @param rows number of all rows, refused ones among them
 * @param breaches in the order of their first rows
 */
public record RefusedRows(int rows, List<RowBreach> breaches) {
  /**
   * Rows that break one rule in one way.
   *
   * @param first message about the first of them: rule, value, remedy
   * @param count of the rows
   * @param places of the first rows
   */
  public record RowBreach(String first, int count, List<String> places) {
    public RowBreach {
      places = List.copyOf(places);
    }
  }

  public RefusedRows {
    breaches = List.copyOf(breaches);
  }

  /** Returns the number of refused rows. */
  public int count() {
    return breaches.stream().mapToInt(RowBreach::count).sum();
  }
}
