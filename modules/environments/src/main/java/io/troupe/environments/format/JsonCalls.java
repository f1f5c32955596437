package io.troupe.environments.format;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.troupe.environments.ToolCall;
import java.io.IOException;
import java.util.List;

/**
 * Calls that are JSON objects. The arguments are the sampled text itself, with its spaces and its
 * order of keys: written again, they would be other tokens when an agent sends them back.
 */
final class JsonCalls {
  private static final JsonFactory JSON = new JsonFactory();

  private JsonCalls() {}

  /**
   * Reads one call.
   *
   * @param keys names that the arguments may have
   */
  static ToolCall call(String text, String... keys) {
    String name = "";
    String arguments = "";
    try (JsonParser parser = JSON.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return new ToolCall("", text, ToolCall.Status.INVALID_ARGUMENTS);
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String key = parser.currentName();
        JsonToken value = parser.nextToken();
        int from = Math.toIntExact(parser.currentTokenLocation().getCharOffset());
        if (key.equals("name") && value == JsonToken.VALUE_STRING) {
          name = parser.getText();
        }
        parser.skipChildren();
        if (List.of(keys).contains(key) && value == JsonToken.START_OBJECT) {
          int end = Math.toIntExact(parser.currentLocation().getCharOffset());
          arguments = text.substring(from, end);
        }
      }
      if (parser.nextToken() != null) {
        return new ToolCall(name, text, ToolCall.Status.INVALID_ARGUMENTS);
      }
    } catch (IOException malformed) {
      return new ToolCall(name, text, ToolCall.Status.INVALID_ARGUMENTS);
    }
    if (name.isEmpty()) {
      return new ToolCall("", text, ToolCall.Status.MISSING_NAME);
    }
    return arguments.isEmpty()
        ? new ToolCall(name, text, ToolCall.Status.INVALID_ARGUMENTS)
        : new ToolCall(name, arguments, ToolCall.Status.OK);
  }
}
