package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.sets.DataItem.OwnSettings;
import io.troupe.tasks.sets.RowQuestion.AskedConversation;
import java.util.Map;

/**
 * Training prompts with instructions, written as chats: RLVR-IFeval (Lambert et al. 2024, "Tulu 3")
 * and IF-multi (Pyatkin et al. 2025).
 *
 * <p>The question is the content of the user's message, or the conversation where there is more
 * than that message; the answer is the label as it is, a JSON object for RLVR-IFeval, a Python
 * literal or JSON for IF-multi; there is no solution; the id is the prefix and the row's number,
 * from 0.
 */
record ChatRows(String idPrefix) implements RowFormat {
  @Override
  public RowOutcome read(Row row) throws RowException {
    JsonNode label = row.fields().path("ground_truth");
    if (label.isMissingNode() || label.isNull() || label.asText("x").isBlank()) {
      throw row.bad("ground_truth", "must hold the label");
    }
    return new RowOutcome.Taken(
        new DataItem(
            idPrefix + row.number(),
            question(row),
            label.isTextual() ? label.textValue() : label.toString(),
            "",
            Map.of(),
            OwnSettings.NONE));
  }

  private static RowQuestion question(Row row) throws RowException {
    ConversationReader messages = new ConversationReader(row, "messages");
    if (!messages.finds()) {
      throw row.bad("messages", "must hold a message of the user");
    }
    AskedConversation asked = messages.read();
    Message last = asked.messages().getLast();
    boolean alone = asked.messages().size() == 1 && last.role().equals("user");
    return alone && asked.tools().isEmpty() ? new RowQuestion.PlainQuestion(last.content()) : asked;
  }
}
