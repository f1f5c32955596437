package io.troupe.engine;

import java.io.Serial;

/**
 * An engine, or the servers behind it, could not draw, whatever the prompt was: the same group may
 * be drawn by another engine, or later. Its message is the reason.
 */
public final class EngineUnavailableException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  /** For a reason that nothing was thrown for. */
  public EngineUnavailableException(String reason) {
    super(reason);
  }

  /** For a failure. */
  public EngineUnavailableException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
