package io.troupe.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * {@code docs/performance.md}, whose tables are between comments that name them: everything between
 * {@code <!-- NAME: begin -->} and {@code <!-- NAME: end -->} is replaced.
 */
public final class PerformancePage {
  private static final double WHOLE = 100;

  private PerformancePage() {}

  /**
   * Replaces a table.
   *
   * @throws IOException if the page has no place of that name
   */
  public static void update(String name, String intro, List<PairedMeasurement> rows)
      throws IOException {
    update(name, intro, "PyTorch", rows);
  }

  /**
   * Replaces a table.
   *
   * @param other name of the side with which ours is compared
   * @throws IOException if the page has no place of that name
   */
  public static void update(String name, String intro, String other, List<PairedMeasurement> rows)
      throws IOException {
    replace(name, "%s\n\n%s".formatted(intro, table(other, rows)));
  }

  /**
   * Replaces the text between the comments of a name.
   *
   * @throws IOException if the page has no place of that name
   */
  public static void replace(String name, String content) throws IOException {
    Path page = Path.of(System.getProperty("troupe.home", "."), "docs", "performance.md");
    String text = Files.readString(page);
    String begin = "<!-- %s: begin -->".formatted(name);
    String end = "<!-- %s: end -->".formatted(name);
    int from = text.indexOf(begin);
    int to = text.indexOf(end);
    if (from < 0 || to < from) {
      throw new IOException("%s has no lines '%s' and '%s'".formatted(page, begin, end));
    }
    Files.writeString(
        page, text.substring(0, from + begin.length()) + "\n" + content + text.substring(to));
  }

  private static String table(String other, List<PairedMeasurement> rows) {
    StringBuilder table =
        new StringBuilder("| | unit | ours | %s | ratio | bar | |%n".formatted(other));
    table.append("|---|---|---:|---:|---:|---:|---|\n");
    for (PairedMeasurement row : rows) {
      table.append(
          "| %s | %s | %s | %s | %s | %s | %s |%n"
              .formatted(
                  row.name(),
                  row.unit(),
                  number(row.ourMedian()),
                  number(row.theirMedian()),
                  number(row.ratio()),
                  bar(row),
                  row.ok() ? "ok" : "missed"));
    }
    return table.toString();
  }

  /** Returns a number with as many digits as the page shows. */
  public static String number(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    return String.format(Locale.ROOT, value >= WHOLE ? "%,.0f" : "%.2f", value);
  }

  /** Returns the bar of a row with its direction, such as ≥ 2.00. */
  public static String bar(PairedMeasurement row) {
    return Double.isNaN(row.bar()) ? "–" : (row.higherIsBetter() ? "≥ " : "≤ ") + number(row.bar());
  }
}
