package io.troupe.verifiers.python;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Rows as {@code list(csv.reader(io.StringIO(text), delimiter=...))} gives them: a quote opens only
 * at the start of a field, a doubled one is one, text behind a closing quote is kept, line ends
 * inside quotes belong to the field, and an empty line is a row without fields.
 */
public final class PythonCsv {
  /** {@code csv.field_size_limit}. */
  private static final int MOST_CHARACTERS = 131_072;

  private enum State {
    ROW_START,
    FIELD_START,
    PLAIN,
    QUOTED,
    QUOTE_IN_QUOTED
  }

  private PythonCsv() {}

  /** The rows; empty where the reader raises an error. */
  public static Optional<List<List<String>>> rows(String text, char delimiter) {
    List<List<String>> rows = new ArrayList<>();
    List<String> row = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    State state = State.ROW_START;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean lineEnd = c == '\n' || c == '\r';
      if (state == State.QUOTED) {
        if (c == '"') {
          state = State.QUOTE_IN_QUOTED;
        } else {
          field.append(c);
        }
      } else if (lineEnd) {
        if (c == '\r' && i + 1 < text.length() && text.charAt(i + 1) != '\n') {
          // The reader is fed lines that end in \n: a lone \r within one is an error.
          return Optional.empty();
        }
        i += c == '\r' && i + 1 < text.length() ? 1 : 0;
        if (state != State.ROW_START) {
          row.add(field.toString());
        }
        rows.add(row);
        row = new ArrayList<>();
        field.setLength(0);
        state = State.ROW_START;
      } else if (c == delimiter) {
        row.add(field.toString());
        field.setLength(0);
        state = State.FIELD_START;
      } else if (c == '"' && (state == State.ROW_START || state == State.FIELD_START)) {
        state = State.QUOTED;
      } else if (c == '"' && state == State.QUOTE_IN_QUOTED) {
        field.append(c);
        state = State.QUOTED;
      } else {
        field.append(c);
        state = State.PLAIN;
      }
      if (field.length() > MOST_CHARACTERS) {
        return Optional.empty();
      }
    }
    if (state != State.ROW_START) {
      row.add(field.toString());
      rows.add(row);
    }
    return Optional.of(rows);
  }
}
