package io.troupe.gym.factory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.Set;

/**
 * Reads rows of a data set as supervised rows of Troupe: {@code {id, prompt, completion}} for one
 * turn of texts, {@code {id, messages}} for conversations.
 *
 * @param entry of the data set
 */
record FactoryRows(FactoryEntry entry) {
  /** Columns whose rows hold more than text. */
  private static final Set<String> MEDIA = Set.of("images", "videos", "audios");

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** A row, or why it is left out. */
  sealed interface Read {
    record Taken(ObjectNode row) implements Read {}

    record Left(String rule) implements Read {}
  }

  Read read(String id, JsonNode row) {
    for (String media : MEDIA) {
      if (entry.column(media).filter(key -> row.path(key).size() > 0).isPresent()) {
        return new Read.Left("holds " + media + ", and only text is imported");
      }
    }
    return entry.chat() ? chat(id, row) : alpaca(id, row);
  }

  private Read alpaca(String id, JsonNode row) {
    String prompt = text(row, "prompt");
    String query = text(row, "query");
    String system = text(row, "system");
    Optional<JsonNode> response = entry.column("response").map(row::path);
    if (response.filter(JsonNode::isTextual).isEmpty()) {
      return new Read.Left("has no text as response, which supervised training leaves out");
    }
    String asked = query.isEmpty() ? prompt : prompt + "\n" + query;
    JsonNode history = entry.column("history").map(row::path).orElse(NODES.arrayNode());
    if (system.isEmpty() && history.isEmpty()) {
      ObjectNode taken = NODES.objectNode();
      taken.put("id", id).put("prompt", asked).put("completion", response.get().textValue());
      return new Read.Taken(taken);
    }
    ArrayNode messages = NODES.arrayNode();
    if (!system.isEmpty()) {
      add(messages, "system", system);
    }
    for (JsonNode pair : history) {
      add(messages, "user", pair.path(0).asText());
      add(messages, "assistant", pair.path(1).asText());
    }
    add(messages, "user", asked);
    add(messages, "assistant", response.get().textValue());
    return conversation(id, messages);
  }

  private Read chat(String id, JsonNode row) {
    JsonNode turns = entry.column("messages").map(row::path).orElse(NODES.missingNode());
    ArrayNode messages = NODES.arrayNode();
    String system = text(row, "system");
    int said = 0;
    for (JsonNode turn : turns) {
      String role = turn.path(entry.tag("role_tag").orElse("")).asText();
      String content = turn.path(entry.tag("content_tag").orElse("")).asText();
      if (is(role, "system_tag") && messages.isEmpty()) {
        system = content;
        continue;
      }
      boolean user = is(role, "user_tag");
      if (!user && !is(role, "assistant_tag")) {
        return new Read.Left(
            "has a turn of %s, and only users and assistants are imported".formatted(role));
      }
      if (user != (said % 2 == 0)) {
        return new Read.Left("has turns that do not alternate, which LLaMA-Factory skips");
      }
      if (said == 0 && !system.isEmpty()) {
        add(messages, "system", system);
      }
      add(messages, user ? "user" : "assistant", content);
      said++;
    }
    return said == 0 || said % 2 == 1
        ? new Read.Left("does not end with an answer, which LLaMA-Factory skips")
        : conversation(id, messages);
  }

  private boolean is(String role, String tag) {
    return entry.tag(tag).filter(role::equals).isPresent();
  }

  private String text(JsonNode row, String meaning) {
    return entry.column(meaning).map(key -> row.path(key).asText("")).orElse("");
  }

  private static void add(ArrayNode messages, String role, String content) {
    messages.addObject().put("role", role).put("content", content);
  }

  private static Read conversation(String id, ArrayNode messages) {
    ObjectNode taken = NODES.objectNode();
    taken.put("id", id).set("messages", messages);
    return new Read.Taken(taken);
  }
}
