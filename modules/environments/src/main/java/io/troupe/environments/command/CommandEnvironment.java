package io.troupe.environments.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.ToolRun;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import java.util.Optional;

/**
 * One episode in a process of a program. Whatever the program does beside the protocol is a failure
 * of the environment: a line that cannot be read, silence, its end.
 */
final class CommandEnvironment implements Environment {
  private final CommandPool pool;
  private final ProgramSettings settings;
  private Optional<JsonLineProgram> taken = Optional.empty(); // guarded by this
  private boolean busy; // guarded by this
  private boolean closed; // guarded by this

  CommandEnvironment(CommandPool pool, ProgramSettings settings) {
    this.pool = pool;
    this.settings = settings;
  }

  @Override
  public void reset(Prompt prompt, long seed) {
    JsonLineProgram program = pool.take();
    synchronized (this) {
      if (closed) {
        pool.give(program);
        throw new EnvironmentFailedException("the episode was closed before it began");
      }
      taken = Optional.of(program);
      busy = true;
    }
    try {
      EnvironmentProcess.asked(
          program,
          EnvironmentProcess.request("reset")
              .put("prompt_id", prompt.id().value())
              .put("prompt", LiteralMark.removed(prompt.text()))
              .put("answer", prompt.answer())
              .put("seed", seed),
          settings.timeout());
    } finally {
      rest();
    }
  }

  @Override
  public ToolResult step(ToolCall call) {
    JsonLineProgram program;
    synchronized (this) {
      if (closed) {
        throw new EnvironmentFailedException("the episode is closed");
      }
      program = taken.orElseThrow();
      busy = true;
    }
    try {
      JsonNode reply =
          EnvironmentProcess.asked(
              program,
              EnvironmentProcess.request("step")
                  .put("tool", call.name())
                  .put("arguments", call.arguments()),
              settings.timeout());
      return result(program, reply);
    } finally {
      rest();
    }
  }

  private static ToolResult result(JsonLineProgram program, JsonNode reply) {
    if (!reply.path("text").isTextual()) {
      program.fail("its reply to a step has no text: " + reply);
      throw new EnvironmentFailedException("a reply to a step has no text: " + reply);
    }
    JsonNode reward = reply.path("reward");
    double given = reward.asDouble();
    if (!reward.isMissingNode() && !(reward.isNumber() && Double.isFinite(given))) {
      program.fail("the reward in its reply to a step is no finite number: " + reward);
      throw new EnvironmentFailedException(
          "the reward in a reply to a step is no finite number: " + reward);
    }
    return new ToolResult(
        reply.path("text").asText(),
        reply.path("error").asBoolean() ? 1 : 0,
        ToolRun.Outcome.RAN,
        reply.path("done").asBoolean(),
        given);
  }

  private synchronized void rest() {
    busy = false;
    if (closed) {
      release();
    }
  }

  @Override
  public ToolResult overdue(ToolCall call) {
    throw new EnvironmentFailedException(
        "no reply within episode.tool_timeout to a call of " + call.name());
  }

  /** Gives the process back; one that is at work is ended. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (busy) {
      taken.ifPresent(program -> program.fail("its episode was ended"));
    } else {
      release();
    }
  }

  private void release() {
    taken.ifPresent(pool::give);
    taken = Optional.empty();
  }
}
