package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;

/**
 * Training prompts with instructions, written as chats: RLVR-IFeval (Lambert et al. 2024, "Tulu 3")
 * and IF-multi (Pyatkin et al. 2025).
 *
 * <p>The question is the content of the user's message; the answer is the label as it is, a JSON
 * object for RLVR-IFeval, a Python literal or JSON for IF-multi; there is no solution; the id is
 * the prefix and the row's number, from 0.
 */
record ChatRows(String idPrefix) implements RowFormat {
  @Override
  public RowOutcome read(Row row) throws RowException {
    JsonNode label = row.fields().path("ground_truth");
    if (label.isMissingNode() || label.isNull() || label.asText("x").isBlank()) {
      throw row.bad("ground_truth", "must hold the label");
    }
    return new RowOutcome.Taken(
        DataItem.of(
            idPrefix + row.number(),
            user(row),
            label.isTextual() ? label.textValue() : label.toString(),
            ""));
  }

  private static String user(Row row) throws RowException {
    for (JsonNode message : row.fields().path("messages")) {
      if (message.path("role").asText().equals("user")) {
        String content = message.path("content").asText("");
        if (!content.isBlank()) {
          return content;
        }
      }
    }
    throw row.bad("messages", "must hold a message of the user");
  }
}
