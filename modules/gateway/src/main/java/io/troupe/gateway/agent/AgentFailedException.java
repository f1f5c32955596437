package io.troupe.gateway.agent;

import io.troupe.environments.EnvironmentFailedException;
import java.io.Serial;

/** An agent cannot be started, or ended without asking the policy: its work is lost. */
public final class AgentFailedException extends EnvironmentFailedException {
  @Serial private static final long serialVersionUID = 1L;

  AgentFailedException(String message) {
    super(message);
  }
}
