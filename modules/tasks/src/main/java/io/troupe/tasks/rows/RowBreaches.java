package io.troupe.tasks.rows;

import io.troupe.tasks.rows.RefusedRows.RowBreach;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Collects the rows that break a rule, those of one rule together. */
final class RowBreaches {
  private static final int KINDS_SHOWN = 20;
  private static final int PLACES_SHOWN = 4;

  /** What a parser's message quotes of a line. */
  private static final String QUOTED = "'[^']*'|\"[^\"]*\"|[0-9]+";

  private final Map<String, Counted> kinds = new LinkedHashMap<>();

  private static final class Counted {
    private final String first;
    private final List<String> places = new ArrayList<>();
    private int count;

    Counted(String first) {
      this.first = first;
    }
  }

  void add(String place, RowException bad) {
    add(place, bad.kind(), String.valueOf(bad.getMessage()));
  }

  /** Adds a row that could not be parsed: what a parser quotes of it makes no other kind. */
  void add(String place, String what) {
    add(place, what.replaceFirst("(?s), not .*", "").replaceAll(QUOTED, ""), what);
  }

  private void add(String place, String kind, String message) {
    Counted counted = kinds.computeIfAbsent(kind, _ -> new Counted(message));
    counted.count++;
    if (counted.places.size() < PLACES_SHOWN) {
      counted.places.add(place);
    }
  }

  RefusedRows refused(int rows) {
    return new RefusedRows(
        rows,
        kinds.values().stream()
            .map(each -> new RowBreach(each.first, each.count, each.places))
            .toList());
  }

  /** Returns the message of a start that ends because of refused rows. */
  static String report(String place, RefusedRows refused, RefusalLimit limit) {
    List<RowBreach> breaches = refused.breaches();
    StringBuilder report =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%s: %,d of %,d rows %s refused:",
                place,
                refused.count(),
                refused.rows(),
                refused.count() == 1 ? "is" : "are"));
    breaches.stream().limit(KINDS_SHOWN).forEach(each -> report.append(line(each)));
    if (breaches.size() > KINDS_SHOWN) {
      int rows =
          breaches.subList(KINDS_SHOWN, breaches.size()).stream().mapToInt(RowBreach::count).sum();
      report.append(String.format(Locale.ROOT, "\n  and %,d rows of other kinds", rows));
    }
    return report.append('\n').append(limit.remedy(refused.count(), refused.rows())).toString();
  }

  private static String line(RowBreach breach) {
    String first = breach.places().getFirst();
    String line = "\n  %s: %s".formatted(first, breach.first());
    if (breach.count() == 1) {
      return line;
    }
    List<String> next =
        breach.places().stream().skip(1).map(place -> shortened(place, first)).toList();
    boolean all = next.size() == breach.count() - 1;
    return line
        + String.format(
            Locale.ROOT,
            "\n    and %,d more: %s%s",
            breach.count() - 1,
            String.join(", ", next),
            all ? "" : ", …");
  }

  /** Returns a place without the file where that is the file of another place. */
  private static String shortened(String place, String other) {
    int file = other.lastIndexOf(':') + 1;
    return file > 0 && place.startsWith(other.substring(0, file)) ? place.substring(file) : place;
  }
}
