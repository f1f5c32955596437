package io.troupe.gateway.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.ToolDeclaration;
import io.troupe.gateway.fields.FieldTable;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads fields that several dialects have. */
final class RequestFields {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Set<String> TEXTS = Set.of("text", "input_text", "output_text");

  private RequestFields() {}

  /** A content: a text, a list of text parts, or nothing. */
  static String content(JsonNode content, String where) throws MalformedTurnException {
    if (content.isMissingNode() || content.isNull()) {
      return "";
    }
    if (content.isTextual()) {
      return content.textValue();
    }
    if (!content.isArray()) {
      throw new MalformedTurnException(where, "a content is a text or a list of parts");
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode part : content) {
      text.append(part(part, where));
    }
    return text.toString();
  }

  /** The text of a part. */
  static String part(JsonNode part, String where) throws MalformedTurnException {
    String type = part.path("type").asText("text");
    if (!TEXTS.contains(type)) {
      throw new MalformedTurnException(
          where, "parts of type '%s' are not served: the policy reads texts".formatted(type));
    }
    if (!part.path("text").isTextual()) {
      throw new MalformedTurnException(where, "a part of type '%s' has a text".formatted(type));
    }
    return part.path("text").textValue();
  }

  /** Arguments of a call: a text, or the object that it would hold. */
  static String arguments(JsonNode arguments) {
    if (arguments.isTextual()) {
      return arguments.textValue();
    }
    return arguments.isObject() ? arguments.toString() : "{}";
  }

  /** The texts of all parts of a type. */
  static String parts(JsonNode content, String type) {
    StringBuilder text = new StringBuilder();
    for (JsonNode part : content) {
      if (part.path("type").asText().equals(type)) {
        text.append(text(part.path("text")));
      }
    }
    return text.toString();
  }

  /** An object of JSON; an empty one where the text is none. */
  static ObjectNode json(String text) {
    try {
      return JSON.readTree(text) instanceof ObjectNode object
          ? object
          : JsonNodeFactory.instance.objectNode();
    } catch (JsonProcessingException noJson) {
      return JsonNodeFactory.instance.objectNode();
    }
  }

  /** A text; empty where there is none. */
  static String text(JsonNode node) {
    return node.isTextual() ? node.textValue() : "";
  }

  /** A positive number of tokens, by one of its names; 0 where there is none. */
  static int tokens(JsonNode body, String... names) throws MalformedTurnException {
    int limit = 0;
    String first = "";
    for (String name : names) {
      JsonNode value = body.path(name);
      if (!value.isMissingNode() && !value.isNull()) {
        OptionalInt count =
            value.isIntegralNumber() && value.canConvertToInt() && value.intValue() > 0
                ? OptionalInt.of(value.intValue())
                : OptionalInt.empty();
        int own =
            count.orElseThrow(
                () -> new MalformedTurnException(name, "%s is 1 or more".formatted(name)));
        if (limit > 0 && own != limit) {
          throw new MalformedTurnException(
              name,
              "%s (%d) and %s (%d) are two names of one limit; send one"
                  .formatted(first, limit, name, own));
        }
        limit = own;
        first = name;
      }
    }
    return limit;
  }

  /** A stop text, or a list of them. */
  static List<String> stops(JsonNode value) {
    List<String> stops = new ArrayList<>();
    if (value.isTextual()) {
      stops.add(value.textValue());
    } else {
      value.forEach(each -> stops.add(text(each)));
    }
    return stops;
  }

  /**
   * Whether the policy may call tools: {@code auto} or {@code none}, as a text or an object.
   *
   * @throws MalformedTurnException if it must call one
   */
  static String toolChoice(JsonNode body) throws MalformedTurnException {
    JsonNode choice = body.path("tool_choice");
    String mode = choice.isObject() ? text(choice.path("type")) : choice.asText("auto");
    if (!mode.equals("auto") && !mode.equals("none")) {
      throw new MalformedTurnException(
          "tool_choice",
          "only auto and none: another would change the distribution that the policy is trained"
              + " on");
    }
    return mode;
  }

  /**
   * Checks the type of a tool that is no function. Such a tool, which the client or its provider
   * runs in a way of its own, is not offered to the policy.
   *
   * @param types beginnings of the types that are known
   * @throws MalformedTurnException if its type is not among them
   */
  static void passOver(JsonNode tool, Pattern types, String where) throws MalformedTurnException {
    String type = text(tool.path("type"));
    if (!types.matcher(type).lookingAt()) {
      throw new MalformedTurnException(
          where,
          "%s (type '%s') is neither a function in the form of this route nor a tool of a known type"
              .formatted(where, type));
    }
  }

  /** A tool; the schema may be missing. */
  static ToolDeclaration tool(JsonNode tool, String schema, String where)
      throws MalformedTurnException {
    FieldTable.checkTool(tool, schema, where);
    String name = text(tool.path("name"));
    if (name.isEmpty()) {
      throw new MalformedTurnException(where, "a tool has a name");
    }
    JsonNode parameters = tool.path(schema);
    return new ToolDeclaration(
        name,
        text(tool.path("description")),
        parameters.isObject() ? parameters.toString() : "{\"type\":\"object\",\"properties\":{}}");
  }
}
