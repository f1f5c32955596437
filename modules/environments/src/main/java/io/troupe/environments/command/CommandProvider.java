package io.troupe.environments.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.failure.Causes;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Environments that are processes of a user's program: docs/episodes.md has its protocol. */
public final class CommandProvider extends ProgramProvider {
  /** Environments of a program, which is not started yet. */
  public CommandProvider(ProgramSettings settings) {
    super(settings);
  }

  @Override
  protected List<ToolSchema> namedTools() {
    // The program ends with the thread that starts it.
    CompletableFuture<List<ToolSchema>> answer = new CompletableFuture<>();
    Thread.ofPlatform().daemon().name("environment-tools").start(() -> ask(answer));
    return Causes.joined(answer);
  }

  private void ask(CompletableFuture<List<ToolSchema>> answer) {
    try (JsonLineProgram program = EnvironmentProcess.start(settings())) {
      JsonNode reply =
          EnvironmentProcess.asked(
              program, EnvironmentProcess.request("tools"), settings().timeout());
      answer.complete(read(reply));
    } catch (RuntimeException failure) {
      answer.completeExceptionally(failure);
    }
  }

  private List<ToolSchema> read(JsonNode reply) {
    List<ToolSchema> read = new ArrayList<>();
    for (JsonNode tool : reply.path("tools")) {
      try {
        read.add(
            new ToolSchema(
                tool.path("name").asText(),
                tool.path("description").asText(),
                tool.path("parameters").isObject() ? tool.path("parameters").toString() : "{}"));
      } catch (IllegalArgumentException misnamed) {
        throw new EnvironmentFailedException(
            "%s names a tool that cannot be called: %s"
                .formatted(settings().line(), misnamed.getMessage()),
            misnamed);
      }
    }
    if (read.isEmpty()) {
      throw new EnvironmentFailedException(
          "%s names no tool; its reply to the request tools must hold a list tools, each with name, description and parameters"
              .formatted(settings().line()));
    }
    return List.copyOf(read);
  }

  @Override
  public EnvironmentPool open() {
    return new CommandPool(settings());
  }
}
