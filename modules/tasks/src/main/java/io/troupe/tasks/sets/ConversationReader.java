package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.tasks.rows.ChatMessages;
import io.troupe.tasks.rows.DeclaredTools;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.sets.RowQuestion.AskedConversation;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads conversations that a policy continues: {@link ChatMessages} of {@code role} and {@code
 * content} alone.
 *
 * @param row that holds the conversation
 * @param field of the row
 */
record ConversationReader(Row row, String field) {
  private static final String ROLE = "role";
  private static final Set<String> SHOWN = Set.of(ROLE, "content");
  private static final Set<String> ROLES = Set.of("system", "user", ChatMessages.ASSISTANT, "tool");

  private ChatMessages written() {
    return new ChatMessages(row, field);
  }

  /** Whether the field holds the text of a conversation that is no JSON. */
  boolean isLiteral() {
    return written().isLiteral();
  }

  /** Whether the field holds a conversation, or something that is meant as one. */
  boolean finds() {
    JsonNode list = written().list();
    return list.isArray()
        && !list.isEmpty()
        && (list.path(0).has(ROLE) || (list.path(0).has("from") && list.path(0).has("value")));
  }

  /**
   * Returns the conversation.
   *
   * @throws RowException if a part of it could not be shown, or nothing is left to answer
   */
  AskedConversation read() throws RowException {
    for (JsonNode each : written().list()) {
      refuseUnshown(each);
    }
    List<Message> messages =
        written().read().messages().stream()
            .map(
                each ->
                    new Message(
                        String.valueOf(each.get(ROLE)), String.valueOf(each.get("content"))))
            .toList();
    String last = messages.getLast().role();
    if (last.equals(ChatMessages.ASSISTANT)) {
      throw bad(
          "must end with a message of the user",
          "what the policy is to answer comes last: leave the answer out of the list, or train on"
              + " it by troupe sft");
    }
    if (last.equals("system")) {
      throw bad("must end with a message of the user", "add the question");
    }
    if (last.equals("user") && messages.getLast().content().isBlank()) {
      throw bad("must end with a question, which is not blank", "");
    }
    return new AskedConversation(field, messages, DeclaredTools.of(row));
  }

  private void refuseUnshown(JsonNode message) throws RowException {
    if (message.has("from") && message.has("value")) {
      throw bad(
          "must be a list of messages with role and content",
          "rename from to role (human is user, gpt is assistant) and value to content");
    }
    String role = message.path(ROLE).asText("");
    if (!ROLES.contains(role)) {
      throw bad(
          "must have the roles system, user, assistant or tool",
          role.equals("developer")
              ? "rename developer to system"
              : "there is " + message.path(ROLE));
    }
    for (Map.Entry<String, JsonNode> each : message.properties()) {
      if (!SHOWN.contains(each.getKey()) && !ChatMessages.isEmpty(each.getValue())) {
        throw bad(
            "must hold messages of role and content alone",
            "a message has %s, which prompts do not show; remove it".formatted(each.getKey()));
      }
    }
  }

  private RowException bad(String rule, String remedy) {
    return row.bad(field, rule, remedy);
  }
}
