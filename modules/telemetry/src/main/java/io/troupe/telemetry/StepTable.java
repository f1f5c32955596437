package io.troupe.telemetry;

import java.util.StringJoiner;
import java.util.function.Function;

/** The rows of the training screen: aligned text of fixed widths, whatever the values. */
public enum StepTable {
  /** Separated by box-drawing characters. */
  UNICODE(" │ ", "╰─ ", "–", "…"),
  /** For terminals that show nothing else. */
  ASCII(" | ", "`- ", "-", "~");

  private enum Column {
    STEP("step", 6),
    TIME("time", 6),
    REWARD("reward", 6),
    EVAL("eval", 6),
    STALENESS("stale max/mean", 14),
    DEGENERATE("degen", 5),
    LOST("lost", 6),
    LENGTH("len", 5),
    KL("kl", 6),
    GRADIENT("grad", 5),
    WAITED_FOR("wait for", 8),
    SPEED("tok/s", 5);

    private final String header;
    private final int width;

    Column(String header, int width) {
      this.header = header;
      this.width = width;
    }
  }

  private final String separator;
  private final String branch;
  private final String dash;
  private final String ellipsis;

  StepTable(String separator, String branch, String dash, String ellipsis) {
    this.separator = separator;
    this.branch = branch;
    this.dash = dash;
    this.ellipsis = ellipsis;
  }

  /** The names of the columns. */
  public String header() {
    return line(column -> column.header);
  }

  /** Returns the line of a step; before the first step, most cells are dashes. */
  public String row(StepRow row) {
    return line(column -> cell(column, row));
  }

  /** Returns the line of an event between two rows. */
  public String note(String text) {
    return "  " + branch + text;
  }

  private String cell(Column column, StepRow row) {
    return switch (column) {
      case STEP ->
          row.step() < 1_000_000
              ? Long.toString(row.step())
              : CompactNumbers.count((double) row.step());
      case TIME -> CompactNumbers.duration(row.seconds());
      case EVAL ->
          row.eval().isPresent() ? CompactNumbers.decimal(row.eval().getAsDouble(), 3) : dash;
      default -> row.training().map(training -> cell(column, training)).orElse(dash);
    };
  }

  private String cell(Column column, StepRow.Training training) {
    return switch (column) {
      case STEP, TIME, EVAL -> dash;
      case REWARD -> CompactNumbers.decimal(training.reward(), 3);
      case STALENESS ->
          CompactNumbers.count((double) training.stalenessMax())
              + " / "
              + CompactNumbers.decimal(training.stalenessMean(), 2);
      case DEGENERATE -> CompactNumbers.percent(training.degenerateShare(), 0);
      case LOST -> CompactNumbers.percent(training.lostShare(), 1);
      case LENGTH -> CompactNumbers.count(training.length());
      case KL -> CompactNumbers.decimal(training.kl(), 4);
      case GRADIENT -> CompactNumbers.decimal(training.gradientNorm(), 2);
      case WAITED_FOR -> training.waitedFor().isBlank() ? dash : training.waitedFor();
      case SPEED -> CompactNumbers.count(training.tokensPerSecond());
    };
  }

  private String line(Function<Column, String> cells) {
    StringJoiner line = new StringJoiner(separator);
    for (Column column : Column.values()) {
      String cell = cells.apply(column).replace("–", dash);
      line.add(column == Column.WAITED_FOR ? left(cell, column) : right(cell, column));
    }
    return line.toString();
  }

  private String left(String text, Column column) {
    String cut =
        text.length() > column.width ? text.substring(0, column.width - 1) + ellipsis : text;
    return cut + " ".repeat(column.width - cut.length());
  }

  private static String right(String text, Column column) {
    return " ".repeat(Math.max(0, column.width - text.length())) + text;
  }
}
