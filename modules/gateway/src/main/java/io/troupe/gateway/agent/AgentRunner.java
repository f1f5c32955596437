package io.troupe.gateway.agent;

import io.troupe.core.rollout.StopReason;
import io.troupe.gateway.GatewayServer;
import io.troupe.gateway.GatewaySession;
import java.util.concurrent.CompletableFuture;

/** Gives tasks to agents, and waits for their ends. */
interface AgentRunner extends AutoCloseable {
  /** The end of an agent's work. */
  sealed interface AgentEnd {}

  /**
   * The agent ended, or was ended: what the policy answered last is judged.
   *
   * @param lastOutput of an agent that never asked the policy; else empty
   */
  record Ended(StopReason stop, String lastOutput) implements AgentEnd {}

  /** The agent is gone, and its result is unknown: its work is lost. */
  record Vanished(String why) implements AgentEnd {}

  /** The gateway at which agents find their sessions; closed with the runner. */
  GatewayServer server();

  /** Returns the thing that an episode waits for until an agent has its task. */
  String awaited();

  /**
   * Runs a task to its end.
   *
   * @param session of the task, open at the server
   * @param stop completes when the task's lease is cancelled
   * @param begun called when an agent has the task
   * @throws java.util.concurrent.CancellationException if the lease was cancelled
   * @throws AgentFailedException if there is no agent, or it says that it failed
   */
  AgentEnd run(
      AgentTask task, GatewaySession session, CompletableFuture<Void> stop, Runnable begun);

  @Override
  void close();
}
