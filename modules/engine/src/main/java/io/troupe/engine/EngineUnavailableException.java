package io.troupe.engine;

import java.io.Serial;

/**
 * An engine, or the servers behind it, could not sample any prompt. Another engine may sample the
 * same group, or the same engine later. The message is the reason.
 */
public final class EngineUnavailableException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  /** Creates an exception without a cause. */
  public EngineUnavailableException(String reason) {
    super(reason);
  }

  /** Creates an exception with the failure that caused it. */
  public EngineUnavailableException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
