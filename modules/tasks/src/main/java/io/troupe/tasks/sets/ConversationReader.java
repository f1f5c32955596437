package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.tasks.rows.DeclaredTools;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowJson;
import io.troupe.tasks.rows.ValueText;
import io.troupe.tasks.sets.RowQuestion.AskedConversation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads conversations of rows: lists of messages with {@code role} and {@code content}, which is a
 * text or a list of text parts; or the JSON text of such a list.
 *
 * @param row that holds the conversation
 * @param field of the row
 */
record ConversationReader(Row row, String field) {
  private static final String ROLE = "role";
  private static final String CONTENT = "content";
  private static final Set<String> ROLES = Set.of("system", "user", "assistant", "tool");

  /** The beginning of a list of messages, in JSON or as Python writes it. */
  private static final Pattern MESSAGES =
      Pattern.compile("\\s*\\[\\s*\\{\\s*['\"](role|from)['\"]");

  /** Returns the list that a value holds, itself or as JSON text; else the value. */
  private static JsonNode parsed(JsonNode value) {
    if (value.isTextual() && value.textValue().stripLeading().startsWith("[")) {
      try {
        return RowJson.parse(value.textValue(), "a list");
      } catch (RowException _) {
        return value; // a text that begins with a bracket
      }
    }
    return value;
  }

  /**
   * Whether the field holds the text of a conversation that is no JSON, as pandas writes to CSV.
   */
  boolean isLiteral() {
    JsonNode value = parsed(row.at(field));
    return value.isTextual() && MESSAGES.matcher(value.textValue()).lookingAt();
  }

  /** Whether the field holds a conversation, or something that is meant as one. */
  boolean finds() {
    JsonNode value = row.at(field);
    JsonNode list = parsed(value);
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
    List<Message> messages = new ArrayList<>();
    for (JsonNode each : parsed(row.at(field))) {
      messages.add(message(each));
    }
    String last = messages.getLast().role();
    if (last.equals("assistant")) {
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

  private Message message(JsonNode message) throws RowException {
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
      JsonNode value = each.getValue();
      boolean empty = ValueText.isAbsent(value) || (value.isContainerNode() && value.isEmpty());
      if (!empty && !each.getKey().equals(ROLE) && !each.getKey().equals(CONTENT)) {
        throw bad(
            "must hold messages of role and content alone",
            "a message has %s, which prompts do not show; remove it".formatted(each.getKey()));
      }
    }
    return new Message(role, content(message.path(CONTENT)));
  }

  private String content(JsonNode content) throws RowException {
    if (content.isTextual()) {
      return content.textValue();
    }
    if (!content.isArray() || content.isEmpty()) {
      throw bad("must hold messages with a text as content", "there is " + content);
    }
    StringBuilder joined = new StringBuilder();
    for (JsonNode part : content) {
      String type = part.path("type").asText("text");
      if (!type.equals("text") || !part.path("text").isTextual()) {
        throw bad(
            "must hold texts only",
            "there is a part of type %s; policies read texts".formatted(type));
      }
      joined.append(part.path("text").textValue());
    }
    return joined.toString();
  }

  private RowException bad(String rule, String remedy) {
    return row.bad(field, rule, remedy);
  }
}
