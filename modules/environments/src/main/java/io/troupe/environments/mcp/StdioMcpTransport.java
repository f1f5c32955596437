package io.troupe.environments.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.environments.command.JsonLineProgram;
import io.troupe.environments.command.ProgramSettings;

/** A server that is a child process: a message on each line of standard input and output. */
final class StdioMcpTransport implements McpTransport {
  private final ProgramSettings settings;
  private final JsonLineProgram program;

  private StdioMcpTransport(ProgramSettings settings, JsonLineProgram program) {
    this.settings = settings;
    this.program = program;
  }

  static StdioMcpTransport start(ProgramSettings settings) {
    return new StdioMcpTransport(
        settings, JsonLineProgram.start(settings, StdioMcpTransport::answer));
  }

  /** Notifications, and lines that are no message, are passed over. */
  private static void answer(JsonLineProgram program, String line) {
    McpTransport.reply(JsonLineProgram.parsed(line))
        .ifPresent(reply -> Thread.ofVirtual().start(() -> program.tell(reply)));
  }

  @Override
  public JsonNode ask(ObjectNode request) {
    return program.ask(
        request,
        settings.timeout(),
        id -> {
          if (!request.path("method").asText().equals("initialize")) { // MCP forbids to cancel it
            program.tell(McpTransport.cancelled(id, "no reply within " + settings.timeout()));
          }
        });
  }

  @Override
  public void tell(ObjectNode message) {
    program.tell(message);
  }

  @Override
  public void agreed(String revision) {
    // A line says nothing of it.
  }

  @Override
  public boolean isAlive() {
    return program.isAlive();
  }

  @Override
  public void close() {
    program.close();
  }
}
