package io.troupe.tasks.supervised;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads the messages of a row, in OpenAI's form (role, content) or ShareGPT's (from, value), as a
 * chat template sees them. What no template would show is refused.
 *
 * @param row that has the messages
 * @param field that holds the list
 */
record ChatMessages(Row row, String field) {
  static final String ASSISTANT = "assistant";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FORM = "must be a list of messages with role and content";

  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", ASSISTANT, "tool", "function");

  /** Roles of ShareGPT's form. */
  private static final Map<String, String> AUTHORS =
      Map.of(
          "human",
          "user",
          "user",
          "user",
          "gpt",
          ASSISTANT,
          "chatgpt",
          ASSISTANT,
          "bing",
          ASSISTANT,
          ASSISTANT,
          ASSISTANT,
          "system",
          "system",
          "tool",
          "tool",
          "observation",
          "tool");

  /** Parts of an answer that are not shown to the policy, or not in this form. */
  private static final List<String> FOREIGN =
      List.of("function_call", "audio", "images", "refusal");

  /**
   * Messages, and the indices of those that are imitated.
   *
   * @param messages at least one
   */
  record Conversation(List<Map<String, Object>> messages, Set<Integer> imitated) {}

  /**
   * Returns the messages of the field, every answer of which is imitated that its weight allows.
   */
  Conversation read() throws RowException {
    List<Map<String, Object>> messages = new ArrayList<>();
    Set<Integer> imitated = new TreeSet<>();
    for (JsonNode each : row.at(field)) {
      Map<String, Object> message = message(each);
      if (learnt(each, message)) {
        imitated.add(messages.size());
      }
      messages.add(message);
    }
    if (messages.isEmpty()) {
      throw row.bad(field, FORM);
    }
    return new Conversation(messages, imitated);
  }

  private Map<String, Object> message(JsonNode node) throws RowException {
    for (String name : FOREIGN) {
      if (node.hasNonNull(name)) {
        throw bad("must hold no %s".formatted(name), node, "write it as content or tool_calls");
      }
    }
    boolean shared = node.path("from").isTextual() && !node.has("role");
    String author = node.path(shared ? "from" : "role").asText("");
    String role = shared ? AUTHORS.getOrDefault(author, "") : author;
    if (author.isEmpty()) {
      throw row.bad(field, FORM);
    }
    if (!ROLES.contains(role)) {
      Set<String> known = shared ? AUTHORS.keySet() : ROLES;
      throw bad("must be from one of " + new TreeSet<>(known), node, "");
    }
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("role", role);
    JsonNode written = parsed(node.path("tool_calls"));
    boolean none =
        written.isMissingNode()
            || written.isNull()
            || (written.isTextual() && written.textValue().isBlank());
    if (!none && !written.isArray()) {
      throw bad("must hold a list as tool_calls", written, "");
    }
    boolean calls = !written.isEmpty();
    message.put("content", content(node.path(shared ? "value" : "content"), calls));
    copy(node, "name", message, "name");
    copy(node, "tool_call_id", message, "tool_call_id");
    keep(node, "thinking", message);
    keep(node, "reasoning_content", message);
    if (String.valueOf(message.getOrDefault("reasoning_content", "")).isEmpty()) {
      copy(node, "reasoning", message, "reasoning_content");
    }
    if (calls) {
      message.put("tool_calls", calls(written));
    }
    return message;
  }

  /** A thought, which to a template is another than none even where it is empty. */
  private void keep(JsonNode node, String name, Map<String, Object> message) throws RowException {
    if (node.path(name).isTextual()) {
      message.put(name, node.path(name).textValue());
    } else {
      copy(node, name, message, name);
    }
  }

  private void copy(JsonNode node, String from, Map<String, Object> message, String to)
      throws RowException {
    JsonNode value = node.path(from);
    if (value.isMissingNode()
        || value.isNull()
        || value.equals(JSON.getNodeFactory().textNode(""))) {
      return;
    }
    if (!value.isTextual()) {
      throw bad("must hold a text as %s".formatted(from), value, "");
    }
    message.put(to, value.textValue());
  }

  /** A text, or parts of which each has one; nothing beside calls is no text. */
  private String content(JsonNode content, boolean calls) throws RowException {
    if (content.isTextual()) {
      return content.textValue();
    }
    if (calls && (content.isNull() || content.isMissingNode())) {
      return "";
    }
    if (!content.isArray()) {
      throw row.bad(field, FORM);
    }
    StringBuilder joined = new StringBuilder();
    for (JsonNode part : content) {
      if (!part.path("text").isTextual()) {
        throw row.bad(field, "must hold texts only");
      }
      joined.append(part.path("text").textValue());
    }
    return joined.toString();
  }

  /** Calls, with arguments as objects: a template writes them as it writes those that it shows. */
  private List<Object> calls(JsonNode written) throws RowException {
    List<Object> calls = new ArrayList<>();
    for (JsonNode each : written) {
      boolean bare = !each.path("function").isObject();
      JsonNode function = bare ? each : each.path("function");
      JsonNode arguments = parsed(function.path("arguments"));
      if (!function.path("name").isTextual() || !arguments.isObject()) {
        throw bad(
            "must hold calls with a function's name and arguments",
            each,
            "arguments are an object");
      }
      Map<String, Object> said = new LinkedHashMap<>();
      said.put("name", function.path("name").textValue());
      said.put("arguments", map(arguments));
      Map<String, Object> call = new LinkedHashMap<>();
      if (each.path("id").isTextual()) {
        call.put("id", each.path("id").textValue());
      }
      call.put("type", "function");
      call.put("function", said);
      calls.add(call);
    }
    return calls;
  }

  /** Whether an answer is imitated: neither {@code weight: 0} nor {@code train: false}. */
  private boolean learnt(JsonNode node, Map<String, Object> message) throws RowException {
    JsonNode weight = node.path("weight");
    JsonNode train = node.path("train");
    boolean answer = ASSISTANT.equals(message.get("role"));
    boolean none = weight.isMissingNode() || weight.isNull();
    if (!none && !(weight.isNumber() && (weight.asDouble() == 0 || weight.asDouble() == 1))) {
      throw bad("must hold a weight of 0 or 1", weight, "");
    }
    if (!train.isMissingNode() && !train.isNull() && !train.isBoolean()) {
      throw bad("must hold true or false as train", train, "");
    }
    if (!answer && train.asBoolean(false)) {
      throw bad("must imitate answers of the assistant alone", node, "remove train");
    }
    return answer && (none || weight.asDouble() == 1) && train.asBoolean(true);
  }

  /** JSON that a text holds, as tables have it; what is no JSON stays a text. */
  private static JsonNode parsed(JsonNode node) {
    try {
      return node.isTextual() && !node.textValue().isBlank()
          ? JSON.readTree(node.textValue())
          : node;
    } catch (JsonProcessingException text) {
      return node;
    }
  }

  private static Map<String, Object> map(JsonNode object) {
    return JSON.convertValue(object, new TypeReference<LinkedHashMap<String, Object>>() {});
  }

  private RowException bad(String rule, JsonNode value, String remedy) {
    return new RowException("\"%s\" %s".formatted(field, rule), value, remedy);
  }
}
