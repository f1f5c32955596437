package io.troupe.environments;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * A call of a tool as the policy sampled it.
 *
 * @param name of the tool; empty where the call has none
 * @param arguments exactly the sampled text between the marks of the format, never written again
 * @param status whether the call can be read
 */
public record ToolCall(String name, String arguments, Status status) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Whether a call can be read. */
  public enum Status {
    OK,
    /** The call does not end before the answer does. */
    UNCLOSED,
    /** The arguments are not what the format wants, such as JSON. */
    INVALID_ARGUMENTS,
    /** The call names no tool. */
    MISSING_NAME
  }

  /**
   * Returns an argument as text: the value of the key where the arguments are a JSON object, and
   * else all of them.
   *
   * @return empty text if the object lacks the key
   */
  public String argument(String key) {
    if (!arguments.startsWith("{")) {
      return arguments;
    }
    try {
      return JSON.readTree(arguments).path(key).asText();
    } catch (JsonProcessingException malformed) {
      return "";
    }
  }
}
