package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.hash.Sha256;
import io.troupe.core.reward.JudgedBy;
import io.troupe.tasks.rows.ColumnRole;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.ValueText;
import io.troupe.tasks.sets.DataItem.OwnSettings;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;

/**
 * A data set of the user, whose columns the configuration names.
 *
 * <p>A question that is one column may be a conversation. A row without an id has one made of its
 * question and answer, which neither other rows nor their order change; of equal rows, the second
 * is {@code row_…-2}.
 */
public final class FieldRows implements RowFormat {
  private static final String ID = "id";
  private static final int ID_DIGITS = 12;

  private final FieldColumns columns;
  private final Function<String, JudgedBy> verifiers;
  private final Map<String, Integer> contents = new HashMap<>();
  private boolean first = true;
  private boolean ownIds;

  /**
   * Creates the format for one pass.
   *
   * @param verifiers what a verifier reads, by its name; the empty name is that of the data set
   */
  public FieldRows(FieldColumns columns, Function<String, JudgedBy> verifiers) {
    this.columns = columns;
    this.verifiers = verifiers;
  }

  @Override
  public RowOutcome read(Row row) throws RowException {
    if (first) {
      first = false;
      ownIds = !columns.id().isEmpty() || hasId(row);
    }
    if (!ownIds && hasId(row)) {
      throw row.bad(ID, "must be in every row, or in none", "the first row has none");
    }
    RowQuestion question = question(row);
    String verifier = text(row, columns.verifier(), "verifier_field").strip();
    String answer = answer(row, verifiers.apply(verifier));
    String solution = columns.imitates() ? text(row, columns.solution(), "solution_field") : "";
    return new RowOutcome.Taken(
        new DataItem(
            ownIds ? givenId(row) : contentId(row),
            question,
            answer,
            solution,
            Map.of(),
            OwnSettings.judgedBy(verifier)));
  }

  /** Whether a row has an id; an empty cell of a table is none. */
  private static boolean hasId(Row row) {
    JsonNode id = row.at(ID);
    return row.has(ID) && !(id.isTextual() && id.textValue().isBlank());
  }

  private String givenId(Row row) throws RowException {
    String column = columns.id().isEmpty() ? ID : columns.id();
    return ValueText.of(row.at(column))
        .map(String::strip)
        .filter(id -> !id.isEmpty())
        .orElseThrow(
            () ->
                row.at(column).isMissingNode() || (columns.id().isEmpty() && !hasId(row))
                    ? absent(
                        row,
                        column,
                        columns.id().isEmpty()
                            ? "must be in every row, or in none"
                            : "must hold the id, because task.id_field names it",
                        "task.id_field",
                        ColumnRole.ID)
                    : row.bad(column, "must hold the id, a text or a number"));
  }

  private String contentId(Row row) {
    StringBuilder content = new StringBuilder();
    columns.asked().forEach(column -> content.append(shown(row.at(column))).append('\n'));
    content.append(shown(row.at(columns.answer())));
    String id =
        "row_"
            + Sha256.hex(content.toString().getBytes(StandardCharsets.UTF_8))
                .substring(0, ID_DIGITS);
    int occurrence = contents.merge(id, 1, Integer::sum);
    return occurrence == 1 ? id : id + "-" + occurrence;
  }

  /** Returns a number's text, the same in every file format, and any other value's JSON. */
  private static String shown(JsonNode value) {
    return value.isNumber() ? value.asText() : value.toString();
  }

  private String answer(Row row, JudgedBy by) throws RowException {
    JsonNode value = row.at(columns.answer());
    if (value.isMissingNode()) {
      throw absent(
          row, columns.answer(), "must hold the answer", "task.answer_field", ColumnRole.ANSWER);
    }
    return GoldText.of(columns.answer(), value, by);
  }

  /** Returns a text or a number as text; empty if there is none. */
  private static String text(Row row, String column, String key) throws RowException {
    if (column.isEmpty() || !row.has(column)) {
      return "";
    }
    return ValueText.of(row.at(column))
        .orElseThrow(
            () ->
                row.bad(
                    column,
                    "must be a text, because task.%s names it".formatted(key),
                    "set task.%s to another column, or to \"\" for none".formatted(key)));
  }

  private RowQuestion question(Row row) throws RowException {
    StringBuilder text = new StringBuilder();
    Matcher place = columns.places();
    boolean blank = true;
    int end = 0;
    while (place.find()) {
      String column = place.group(1);
      ConversationReader conversation = new ConversationReader(row, column);
      if (conversation.finds()) {
        if (!columns.isOneColumn()) {
          throw row.bad(
              column,
              "must be a text, because task.question has more than this column",
              "a conversation is shown whole: set task.question to \"{%s}\"".formatted(column));
        }
        return conversation.read();
      }
      if (conversation.isLiteral()) {
        throw row.bad(
            column,
            "must be JSON, because it begins as a list of messages",
            "write the column with json.dumps");
      }
      String value = asked(row, column);
      blank &= value.isBlank();
      text.append(columns.question(), end, place.start()).append(value);
      end = place.end();
    }
    if (blank) {
      throw row.bad(columns.asked().getFirst(), "must hold a question, which is not blank");
    }
    return new RowQuestion.PlainQuestion(text.append(columns.question().substring(end)).toString());
  }

  private String asked(Row row, String column) throws RowException {
    JsonNode value = row.at(column);
    if (value.isMissingNode()) {
      throw absent(
          row,
          column,
          "must be there, because task.question names it",
          "task.question",
          ColumnRole.QUESTION);
    }
    return ValueText.of(value)
        .orElseThrow(
            () ->
                row.bad(
                    column,
                    "must be a text, a number or a conversation, because task.question names it",
                    value.isObject() && !value.isEmpty()
                        ? "name the field inside it, such as {%s.%s}"
                            .formatted(column, value.fieldNames().next())
                        : ""));
  }

  private RowException absent(Row row, String column, String rule, String key, ColumnRole role) {
    List<String> used = columns.asked();
    Predicate<String> free =
        role == ColumnRole.QUESTION
            ? name -> !name.equals(columns.answer())
            : name -> !used.contains(name);
    String form = role == ColumnRole.QUESTION ? "\"{%s}\"" : "%s";
    return row.bad(
        column,
        rule,
        row.columns()
            + role.in(row.fields())
                .filter(free)
                .findFirst()
                .map(name -> "; did you mean %s: %s?".formatted(key, form.formatted(name)))
                .orElse("; set %s to one of them".formatted(key)));
  }
}
