package io.troupe.environments.box;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.ToolRun;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.command.ProcessSlots;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;

/**
 * One episode's box. It begins with the first call, and ends with the episode. Nothing of the
 * prompt enters it but the files of its task and what the policy writes, least of all the answer.
 *
 * <p>A task with files places them into the box, and what the policy has made of them is handed in.
 *
 * <p>A policy that breaks its box has done so itself: it is told, and has an empty box with the
 * next call. Only a box that cannot be started is a failure of the machine.
 */
final class BoxEnvironment implements Environment {
  private final Boxes boxes;
  private final ProcessSlots<Box> slots;
  private final Function<Prompt, BoxTask> tasks;
  private volatile BoxTask task = BoxTask.NONE;
  private Optional<Box> box = Optional.empty(); // guarded by this
  private boolean taken; // guarded by this
  private boolean closed; // guarded by this

  /**
   * An environment in slots of boxes.
   *
   * @param tasks the box's task of each prompt of this run
   */
  BoxEnvironment(Boxes boxes, Function<Prompt, BoxTask> tasks) {
    this.boxes = boxes;
    this.slots = boxes.slots();
    this.tasks = tasks;
  }

  @Override
  public void reset(Prompt prompt, long seed) {
    task = tasks.apply(prompt);
    boxes.prepare(task.contents().root());
    slots.acquire();
    synchronized (this) {
      taken = !closed;
    }
    if (!taken) {
      slots.release();
    }
  }

  @Override
  public ToolResult step(ToolCall call) {
    Box process = current();
    JsonNode reply;
    try {
      reply = process.carryOut(session(call), order(call));
    } catch (IOException ended) {
      drop(process);
      return killed("the sandbox ended");
    }
    return switch (reply.path("cause").asText()) {
      case "box memory" -> killed("the sandbox used more memory than it has");
      case "box timeout", "box broken" -> killed("the sandbox ended");
      case "timeout" -> result(reply, ToolRun.Outcome.KILLED);
      default -> result(reply, ToolRun.Outcome.RAN);
    };
  }

  private Box current() {
    synchronized (this) {
      if (closed) {
        throw new EnvironmentFailedException("the episode is closed");
      }
      if (box.isPresent()) {
        return box.get();
      }
    }
    Box started = boxes.start(task.contents().root());
    try {
      started.fill(task.contents());
    } catch (IOException ended) {
      slots.end(started);
      throw new EnvironmentFailedException("a sandbox ended before its first call", ended);
    }
    synchronized (this) {
      if (!closed) {
        box = Optional.of(started);
        return started;
      }
    }
    slots.end(started);
    throw new EnvironmentFailedException("the episode is closed");
  }

  private void drop(Box process) {
    synchronized (this) {
      box = Optional.empty();
    }
    slots.end(process);
  }

  private static ToolResult killed(String why) {
    return new ToolResult(
        "[%s; its files and variables are gone]".formatted(why), 1, ToolRun.Outcome.KILLED, false);
  }

  private static ToolResult result(JsonNode reply, ToolRun.Outcome outcome) {
    return new ToolResult(reply.path("text").asText(), reply.path("exit").asInt(), outcome, false);
  }

  @Override
  public String submission() {
    if (task.handedIn().isEmpty()) {
      return "";
    }
    Optional<Box> process;
    synchronized (this) {
      process = box;
    }
    if (process.isEmpty()) {
      return Submission.NOTHING.text();
    }
    try {
      return process.get().submission(task).text();
    } catch (IOException ended) {
      return broken();
    }
  }

  /** The policy has ended its box, and with it what it could have handed in. */
  private static String broken() {
    return Submission.refused("the sandbox ended before its files were read").text();
  }

  private static String session(ToolCall call) {
    return BoxTool.FILES.schemas().stream().anyMatch(tool -> tool.name().equals(call.name()))
        ? "files"
        : call.name();
  }

  private static String order(ToolCall call) {
    return switch (call.name()) {
      case "python" -> call.argument("code");
      case "shell" -> call.argument("command");
      default ->
          call.name()
              + "\n"
              + call.argument("path").replace('\n', ' ')
              + "\n"
              + call.argument("text");
    };
  }

  /** The box keeps its own limit of time, so that the machine is at fault. */
  @Override
  public ToolResult overdue(ToolCall call) {
    throw new EnvironmentFailedException(
        "the sandbox did not carry out a call of %s within episode.tool_timeout"
            .formatted(call.name()));
  }

  @Override
  public void close() {
    Optional<Box> left;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      left = box;
      box = Optional.empty();
    }
    left.ifPresent(slots::end);
    if (taken) {
      slots.release();
    }
  }
}
