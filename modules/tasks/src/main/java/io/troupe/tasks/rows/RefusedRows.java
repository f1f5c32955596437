package io.troupe.tasks.rows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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

  /**
   * Returns these rows, and others of the same data set that turned out to be bad once all were
   * read.
   *
   * @param later what is bad of each, by its place
   */
  public RefusedRows and(Map<String, String> later) {
    RowBreaches more = new RowBreaches();
    later.forEach(more::add);
    List<RowBreach> all = new ArrayList<>(breaches);
    all.addAll(more.refused(0).breaches());
    return new RefusedRows(rows, all);
  }

  /**
   * Returns these rows.
   *
   * @param place of the data set
   * @throws TaskDataException if they are more than a limit allows: the message names all rules
   *     that they break, up to 20, with the first rows of each
   */
  public RefusedRows within(RefusalLimit limit, String place) {
    if (!limit.allows(count(), rows)) {
      throw new TaskDataException(RowBreaches.report(place, this, limit));
    }
    return this;
  }

  /** Returns the number of refused rows. */
  public int count() {
    return breaches.stream().mapToInt(RowBreach::count).sum();
  }
}
