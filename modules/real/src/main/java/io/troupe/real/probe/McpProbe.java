package io.troupe.real.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.command.ProgramSettings;
import io.troupe.environments.mcp.McpProvider;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * An MCP server as the episodes of a worker have it; the arguments are its command, or its URL.
 * {@code {"list": true}} is answered by {@code {"tools": […]}}, and {@code {"name", "arguments"}}
 * by {@code {"text", "exit"}}.
 */
public final class McpProbe {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private McpProbe() {}

  /** Answers until the end of the input. */
  public static void main(String[] arguments) throws IOException {
    McpProvider provider =
        new McpProvider(
            new ProgramSettings(
                List.of(arguments), Map.of(), 1, TIMEOUT, ProgramSettings.LINE_BYTES));
    try (EnvironmentPool pool = provider.open();
        Environment environment = pool.newEnvironment()) {
      ProbeLines.serve(question -> answer(provider, environment, question));
    }
  }

  private static JsonNode answer(McpProvider provider, Environment environment, JsonNode question) {
    ObjectNode answer = ProbeLines.object();
    try {
      if (question.has("list")) {
        ArrayNode tools = answer.putArray("tools");
        provider
            .tools()
            .forEach(
                tool ->
                    tools
                        .addObject()
                        .put("name", tool.name())
                        .put("description", tool.description()));
        return answer;
      }
      ToolResult result =
          environment.step(
              new ToolCall(
                  question.path("name").asText(),
                  question.path("arguments").toString(),
                  ToolCall.Status.OK));
      return answer.put("text", result.text()).put("exit", result.exit());
    } catch (EnvironmentFailedException failed) {
      return answer.put("failed", String.valueOf(failed.getMessage()));
    }
  }
}
