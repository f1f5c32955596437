package io.troupe.environments.mcp;

import io.troupe.environments.EnvironmentFailedException;

/** A server behind HTTP no longer knows the session; the request was not carried out. */
final class McpSessionLostException extends EnvironmentFailedException {
  private static final long serialVersionUID = 1L;

  McpSessionLostException(String message) {
    super(message);
  }
}
