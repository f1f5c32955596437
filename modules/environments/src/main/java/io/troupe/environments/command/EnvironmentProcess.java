package io.troupe.environments.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.environments.EnvironmentFailedException;
import java.time.Duration;

/** The protocol of an environment's program: every line that it writes is a reply. */
final class EnvironmentProcess {
  private static final int EXCERPT = 200;

  private EnvironmentProcess() {}

  static JsonLineProgram start(ProgramSettings settings) {
    return JsonLineProgram.start(
        settings,
        (program, line) ->
            program.fail(
                "it wrote a line that is no reply (an object of JSON, at most %d bytes, with the id of the request): %s"
                    .formatted(
                        settings.lineBytes(),
                        line.substring(0, Math.min(EXCERPT, line.length())))));
  }

  static ObjectNode request(String method) {
    return JsonNodeFactory.instance.objectNode().put("method", method);
  }

  /**
   * Asks, and ends a program that does not reply.
   *
   * @throws EnvironmentFailedException if the program fails, or says so
   */
  static JsonNode asked(JsonLineProgram program, ObjectNode request, Duration limit) {
    JsonNode reply =
        program.ask(request, limit, _ -> program.fail("it did not reply within " + limit));
    if (reply.has("failed")) {
      throw new EnvironmentFailedException(
          "the environment says that it failed: " + reply.path("failed").asText());
    }
    return reply;
  }
}
