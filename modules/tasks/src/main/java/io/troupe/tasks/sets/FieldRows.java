package io.troupe.tasks.sets;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A data set of the user, whose fields the configuration names.
 *
 * @param id field with the id, which every row must have
 * @param question text with fields in braces: {@code "Q: {question}\nA:"}
 * @param answer field with the answer; objects and lists are taken as JSON
 * @param solution field with a completion worth imitating; may be absent
 * @param verifier field with the row's own verifier; may be absent
 */
public record FieldRows(String id, String question, String answer, String solution, String verifier)
    implements RowFormat {
  private static final Pattern FIELD = Pattern.compile("\\{([A-Za-z0-9_.-]+)\\}");

  public FieldRows {
    require(
        FIELD.matcher(question).find(),
        "the question names a field in braces, such as {prompt}, and \"%s\" names none",
        question);
  }

  @Override
  public RowOutcome read(Row row) throws RowException {
    if (!row.has(answer)) {
      throw row.bad(answer, "must hold the answer");
    }
    JsonNode expected = row.fields().path(answer);
    return new RowOutcome.Taken(
        new DataItem(
            row.scalar(id),
            question(row),
            expected.isValueNode() ? expected.asText() : expected.toString(),
            row.textOrEmpty(solution),
            Map.of(),
            DataItem.OwnSettings.judgedBy(row.textOrEmpty(verifier).strip())));
  }

  private String question(Row row) throws RowException {
    StringBuilder text = new StringBuilder();
    Matcher field = FIELD.matcher(question);
    int end = 0;
    while (field.find()) {
      String name = field.group(1);
      if (!row.has(name)) {
        throw row.bad(name, "must be there, because the question names it");
      }
      text.append(question, end, field.start()).append(row.fields().path(name).asText());
      end = field.end();
    }
    return text.append(question.substring(end)).toString();
  }
}
