package io.troupe.environments.mcp;

import io.troupe.core.prompt.Prompt;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.command.ProgramProvider;
import io.troupe.environments.command.ProgramSettings;
import java.util.List;

/** The tools of an MCP server, which the episodes of a worker share. */
public final class McpProvider extends ProgramProvider {
  /** Tools of a server, which is not started yet. */
  public McpProvider(ProgramSettings settings) {
    super(settings);
  }

  @Override
  protected List<ToolSchema> namedTools() {
    try (McpServer server = new McpServer(settings())) {
      return server.client().tools();
    }
  }

  @Override
  public EnvironmentPool open() {
    McpServer server = new McpServer(settings());
    return new EnvironmentPool() {
      @Override
      public Environment newEnvironment() {
        return new ToolsOf(server);
      }

      @Override
      public void close() {
        server.close();
      }
    };
  }

  private record ToolsOf(McpServer server) implements Environment {
    @Override
    public void reset(Prompt prompt, long seed) {
      // The server knows of no episodes.
    }

    @Override
    public ToolResult step(ToolCall call) {
      McpClient client = server.client();
      try {
        return client.call(call);
      } catch (McpSessionLostException lost) {
        return server.renewed(client).call(call);
      }
    }

    @Override
    public ToolResult overdue(ToolCall call) {
      throw new EnvironmentFailedException(
          "no reply within episode.tool_timeout to a call of " + call.name());
    }

    @Override
    public void close() {
      // The server stays for the other episodes.
    }
  }
}
