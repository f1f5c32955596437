package io.troupe.environments.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.environments.command.ProgramSettings;
import java.util.Optional;

/** A transport of JSON-RPC messages to an MCP server. Any thread may send. */
interface McpTransport extends AutoCloseable {
  int NO_SUCH_METHOD = -32601;

  /**
   * A server of these settings: a program, or what a URL names.
   *
   * @throws io.troupe.environments.EnvironmentFailedException if it cannot be started
   */
  static McpTransport start(ProgramSettings settings) {
    return isUrl(settings.command().getFirst())
        ? HttpMcpTransport.of(settings)
        : StdioMcpTransport.start(settings);
  }

  /** Returns the server's name for messages; never its headers, which may hold keys. */
  static String name(ProgramSettings settings) {
    String word = settings.command().getFirst();
    return isUrl(word) ? word : settings.line();
  }

  /** Whether the first word of a server's settings is a URL, and no program. */
  static boolean isUrl(String word) {
    return word.startsWith("http://") || word.startsWith("https://");
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @param request gets its {@code id} here
   * @throws io.troupe.environments.EnvironmentFailedException if there is no reply
   */
  JsonNode ask(ObjectNode request);

  /** Sends a message that has no reply. */
  void tell(ObjectNode message);

  /** From now on messages are of this revision of the protocol. */
  void agreed(String revision);

  /** Whether the server takes requests. */
  boolean isAlive();

  @Override
  void close();

  /** The reply to a server that asks something itself; empty if the message asks nothing. */
  static Optional<ObjectNode> reply(JsonNode message) {
    if (!message.has("method") || !message.has("id")) {
      return Optional.empty();
    }
    ObjectNode reply = JsonNodeFactory.instance.objectNode().put("jsonrpc", "2.0");
    reply.set("id", message.path("id"));
    if (message.path("method").asText().equals("ping")) {
      reply.putObject("result");
    } else {
      reply
          .putObject("error")
          .put("code", NO_SUCH_METHOD)
          .put("message", "this client has no " + message.path("method").asText());
    }
    return Optional.of(reply);
  }

  /** A message without an id. */
  static ObjectNode message(String method, ObjectNode parameters) {
    ObjectNode message =
        JsonNodeFactory.instance.objectNode().put("jsonrpc", "2.0").put("method", method);
    message.set("params", parameters);
    return message;
  }

  /** Notifies a server that the reply to a request came too late. */
  static ObjectNode cancelled(long id, String reason) {
    return message(
        "notifications/cancelled",
        JsonNodeFactory.instance.objectNode().put("requestId", id).put("reason", reason));
  }
}
