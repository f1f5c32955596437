package io.troupe.gateway.agent;

import static io.troupe.core.Require.require;

import io.troupe.gateway.dialog.Conversation;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The agent program of a run, and what an episode of it may take.
 *
 * @param command program and arguments
 * @param environment variables beside the few that every agent has
 * @param count processes at a time of each worker, and of an evaluation
 * @param tasksPerProcess tasks that a process is given, one after the other
 * @param timeout of one episode
 * @param conversation how the policy reads what the agent sends
 * @param maxTurns answers of an episode
 * @param maxToolCalls calls of an episode
 */
public record AgentSettings(
    List<String> command,
    Map<String, String> environment,
    int count,
    int tasksPerProcess,
    Duration timeout,
    Conversation conversation,
    int maxTurns,
    int maxToolCalls) {
  public AgentSettings {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    require(!command.isEmpty(), "an agent has a command");
    require(count >= 1, "a worker runs at least one agent at a time, not %d", count);
    require(tasksPerProcess >= 1, "an agent takes at least one task, not %d", tasksPerProcess);
    require(timeout.isPositive(), "an episode may take longer than 0, not %s", timeout);
  }
}
