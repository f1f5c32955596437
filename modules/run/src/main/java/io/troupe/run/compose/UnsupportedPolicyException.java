package io.troupe.run.compose;

import java.io.IOException;

/**
 * The policy that is asked for cannot be had here: its checkpoint, device or tools; the message
 * says why.
 */
public final class UnsupportedPolicyException extends IOException {
  private static final long serialVersionUID = 1;

  public UnsupportedPolicyException(String message) {
    super(message);
  }

  public UnsupportedPolicyException(String message, Throwable cause) {
    super(message, cause);
  }
}
