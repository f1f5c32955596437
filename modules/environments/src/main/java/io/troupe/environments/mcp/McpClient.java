package io.troupe.environments.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.text.SafeText;
import io.troupe.core.rollout.ToolRun;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.command.ProgramSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An MCP server that has agreed to talk: JSON-RPC 2.0 (modelcontextprotocol.io, revision
 * 2025-11-25). Calls of many episodes may be pending.
 *
 * <p>What a tool reports as its error is a result for the policy, and so is an error by which the
 * server answers a call. All else that goes wrong is a failure of the server.
 */
final class McpClient implements AutoCloseable {
  private static final String REVISION = "2025-11-25";

  /** Errors of JSON-RPC that say nothing of a tool: no JSON, no request. */
  private static final Set<Integer> OF_THE_PROTOCOL = Set.of(-32700, -32600);

  private static final int MOST_PAGES = 100;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Logger LOG = LoggerFactory.getLogger(McpClient.class);

  private final ProgramSettings settings;
  private final McpTransport transport;

  private McpClient(ProgramSettings settings, McpTransport transport) {
    this.settings = settings;
    this.transport = transport;
  }

  /**
   * Starts a server and agrees with it on the protocol.
   *
   * @throws EnvironmentFailedException if it cannot be started, or does not speak MCP
   */
  static McpClient start(ProgramSettings settings) {
    McpClient client = new McpClient(settings, McpTransport.start(settings));
    try {
      ObjectNode hello = JsonNodeFactory.instance.objectNode().put("protocolVersion", REVISION);
      hello.putObject("capabilities");
      hello.putObject("clientInfo").put("name", "troupe").put("version", "1");
      JsonNode agreed = client.result(client.asked("initialize", hello), "initialize");
      if (!agreed.path("protocolVersion").isTextual()) {
        throw new EnvironmentFailedException(
            "%s does not answer initialize as MCP says: %s"
                .formatted(McpTransport.name(settings), agreed));
      }
      client.transport.agreed(agreed.path("protocolVersion").asText());
      client.transport.tell(
          McpTransport.message("notifications/initialized", JsonNodeFactory.instance.objectNode()));
      return client;
    } catch (EnvironmentFailedException failure) {
      client.close();
      throw failure;
    }
  }

  private JsonNode asked(String method, ObjectNode parameters) {
    return transport.ask(McpTransport.message(method, parameters));
  }

  private JsonNode result(JsonNode reply, String method) {
    if (!reply.has("result")) {
      throw new EnvironmentFailedException(
          "%s refuses %s: %s"
              .formatted(
                  McpTransport.name(settings),
                  method,
                  reply.path("error").path("message").asText()));
    }
    return reply.path("result");
  }

  /** Returns all tools of the server that a policy can call, page by page. */
  List<ToolSchema> tools() {
    List<ToolSchema> tools = new ArrayList<>();
    ObjectNode page = JsonNodeFactory.instance.objectNode();
    for (int pages = 0; pages < MOST_PAGES; pages++) {
      JsonNode listed = result(asked("tools/list", page), "tools/list");
      listed.path("tools").forEach(tool -> schema(tool).ifPresent(tools::add));
      if (!listed.path("nextCursor").isTextual()) {
        if (tools.isEmpty()) {
          throw new EnvironmentFailedException(
              "%s has no tool that can be called".formatted(McpTransport.name(settings)));
        }
        return List.copyOf(tools);
      }
      page = JsonNodeFactory.instance.objectNode();
      page.set("cursor", listed.path("nextCursor"));
    }
    throw new EnvironmentFailedException(
        "%s lists its tools on more than %d pages"
            .formatted(McpTransport.name(settings), MOST_PAGES));
  }

  /** A tool as the policy is shown it; empty if its name cannot be called, which is logged. */
  private Optional<ToolSchema> schema(JsonNode tool) {
    try {
      return Optional.of(
          new ToolSchema(
              tool.path("name").asText(),
              tool.path("description").asText(),
              tool.path("inputSchema").isObject() ? tool.path("inputSchema").toString() : "{}"));
    } catch (IllegalArgumentException misnamed) {
      LOG.warn(
          "mcp_tool_left_out server=\"{}\" why=\"{}\"",
          McpTransport.name(settings),
          SafeText.of(String.valueOf(misnamed.getMessage())));
      return Optional.empty();
    }
  }

  /** Calls a tool. */
  ToolResult call(ToolCall call) {
    JsonNode arguments;
    try {
      arguments = JSON.readTree(call.arguments());
    } catch (JsonProcessingException unreadable) {
      return ToolResult.error("error: the arguments are no object of JSON");
    }
    if (!arguments.isObject()) {
      return ToolResult.error("error: the arguments are no object of JSON");
    }
    ObjectNode parameters = JsonNodeFactory.instance.objectNode().put("name", call.name());
    parameters.set("arguments", arguments);
    JsonNode reply = asked("tools/call", parameters);
    JsonNode error = reply.path("error");
    JsonNode code = error.path("code");
    if (code.isIntegralNumber() && !OF_THE_PROTOCOL.contains(code.asInt())) {
      return ToolResult.error("error: " + error.path("message").asText());
    }
    JsonNode result = result(reply, "tools/call");
    return new ToolResult(
        text(result), result.path("isError").asBoolean() ? 1 : 0, ToolRun.Outcome.RAN, false);
  }

  /** The texts of a result; its structure only where it has no text. */
  private static String text(JsonNode result) {
    JsonNode content = result.path("content");
    return content.isEmpty() && result.has("structuredContent")
        ? result.path("structuredContent").toString()
        : StreamSupport.stream(content.spliterator(), false)
            .map(McpClient::part)
            .collect(Collectors.joining("\n"));
  }

  private static String part(JsonNode part) {
    String type = part.path("type").asText();
    return switch (type) {
      case "text" -> part.path("text").asText();
      case "resource" -> part.path("resource").path("text").asText("[a resource that is no text]");
      default -> "[%s, which the policy cannot be shown]".formatted(type);
    };
  }

  boolean isAlive() {
    return transport.isAlive();
  }

  @Override
  public void close() {
    transport.close();
  }
}
