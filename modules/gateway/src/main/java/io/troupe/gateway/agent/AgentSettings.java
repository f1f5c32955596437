package io.troupe.gateway.agent;

import static io.troupe.core.Require.require;

import io.troupe.gateway.dialog.Conversation;
import java.time.Duration;

/**
 * The agents of a run, and what an episode of theirs may take.
 *
 * @param timeout of one episode
 * @param conversation form in which the policy reads the agent's messages
 * @param maxTurns answers of an episode
 * @param maxToolCalls calls of an episode
 */
public record AgentSettings(
    AgentSource source,
    Duration timeout,
    Conversation conversation,
    int maxTurns,
    int maxToolCalls) {
  public AgentSettings {
    require(timeout.isPositive(), "an episode may take longer than 0, not %s", timeout);
  }
}
