package io.troupe.gateway.agent;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The source of a run's agents. */
public sealed interface AgentSource {
  /**
   * A program that is started beside the worker.
   *
   * @param command program and arguments
   * @param environment variables beside the few that every agent has
   * @param count processes at a time of each worker, and of an evaluation
   * @param tasksPerProcess tasks that a process is given, one after the other
   * @param sandbox around each process; none means that it can do what this process's user can
   */
  record Program(
      List<String> command,
      Map<String, String> environment,
      int count,
      int tasksPerProcess,
      List<AgentSandbox> sandbox)
      implements AgentSource {
    public Program {
      command = List.copyOf(command);
      environment = Map.copyOf(environment);
      sandbox = List.copyOf(sandbox);
      require(!command.isEmpty(), "an agent has a command");
      require(count >= 1, "a worker runs at least one agent at a time, not %d", count);
      require(tasksPerProcess >= 1, "an agent takes at least one task, not %d", tasksPerProcess);
      require(sandbox.size() <= 1, "an agent has at most one sandbox, not %d", sandbox.size());
    }
  }

  /** Agents of any host, which ask for tasks. */
  record Remote(RemoteAgents agents) implements AgentSource {}

  /**
   * Checks what agents need on this machine.
   *
   * @throws IOException if it is not there; says what to do
   */
  default void check() throws IOException {
    switch (this) {
      case Program program -> {
        for (AgentSandbox sandbox : program.sandbox()) {
          sandbox.check();
        }
      }
      case Remote(RemoteAgents agents) -> agents.check();
    }
  }

  /** Names the agent in views and protocols. */
  default List<String> name() {
    return switch (this) {
      case Program program -> program.command();
      case Remote _ -> List.of("remote");
    };
  }
}
