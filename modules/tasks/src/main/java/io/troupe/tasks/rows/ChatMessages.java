package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads the messages of a row, in OpenAI's form (role, content) or ShareGPT's (from, value), as a
 * chat template sees them: a list, or its JSON text. What no template would show is refused; what a
 * message has beside the fields that are known is handed to the template.
 *
 * @param row that has the messages
 * @param field that holds the list
 */
public record ChatMessages(Row row, String field) {
  public static final String ASSISTANT = "assistant";
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

  /** The beginning of a list of messages, in JSON or as Python writes it. */
  private static final Pattern LITERAL = Pattern.compile("\\s*\\[\\s*\\{\\s*['\"](role|from)['\"]");

  /** Fields that are read here, or say how a message is learnt. */
  private static final Set<String> KNOWN =
      Set.of(
          "role",
          "content",
          "from",
          "value",
          "weight",
          "train",
          "name",
          "tool_calls",
          "tool_call_id",
          "thinking",
          "reasoning",
          "reasoning_content");

  /** Parts of an answer that are not shown to the policy, or not in this form. */
  private static final List<String> FOREIGN =
      List.of("function_call", "audio", "images", "refusal");

  /**
   * Messages, and the indices of those that are imitated.
   *
   * @param messages at least one
   */
  public record Conversation(List<Map<String, Object>> messages, Set<Integer> imitated) {}

  /** Returns the list that the field holds, itself or as JSON text; else what it holds. */
  public JsonNode list() {
    JsonNode value = row.at(field);
    boolean text = value.isTextual() && value.textValue().stripLeading().startsWith("[");
    return text ? parsed(value) : value;
  }

  /** Whether the field holds the text of messages that is no JSON, as pandas writes to CSV. */
  public boolean isLiteral() {
    JsonNode value = list();
    return value.isTextual() && LITERAL.matcher(value.textValue()).lookingAt();
  }

  /**
   * Returns the messages of the field, every answer of which is imitated that its weight allows.
   */
  public Conversation read() throws RowException {
    List<Map<String, Object>> messages = new ArrayList<>();
    Set<Integer> imitated = new TreeSet<>();
    if (isLiteral()) {
      throw row.bad(field, "must be JSON", "write the column with json.dumps");
    }
    for (JsonNode each : list()) {
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
    for (Map.Entry<String, JsonNode> each : node.properties()) {
      if (!KNOWN.contains(each.getKey()) && !isEmpty(each.getValue())) {
        message.put(each.getKey(), RowJson.plain(each.getValue()));
      }
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

  /** Whether a field says nothing, as tables pad the fields that other rows have. */
  public static boolean isEmpty(JsonNode value) {
    return ValueText.isAbsent(value) || (value.isContainerNode() && value.isEmpty());
  }

  private void copy(JsonNode node, String from, Map<String, Object> message, String to)
      throws RowException {
    JsonNode value = node.path(from);
    if (value.isMissingNode()
        || value.isNull()
        || (value.isTextual() && value.textValue().isEmpty())) {
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
    if (!content.isArray() || content.isEmpty()) {
      throw row.bad(field, FORM, "write every message with a text as content");
    }
    StringBuilder joined = new StringBuilder();
    for (JsonNode part : content) {
      String type = part.path("type").asText("text");
      if (!type.equals("text") || !part.path("text").isTextual()) {
        throw row.bad(
            field,
            "must hold texts only",
            "there is a part of type %s; policies read texts".formatted(type));
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
      said.put("arguments", RowJson.plain(arguments));
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
          ? RowJson.parse(node.textValue(), "a list")
          : node;
    } catch (RowException _) {
      return node;
    }
  }

  private RowException bad(String rule, JsonNode value, String remedy) {
    return new RowException("\"%s\" %s".formatted(field, rule), value, remedy);
  }
}
