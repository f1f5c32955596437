package io.troupe.run.compose;

import java.io.IOException;

/**
 * The policy that a run asks for cannot be had here: its checkpoint or its device; the message says
 * why.
 */
public final class UnsupportedPolicyException extends IOException {
  private static final long serialVersionUID = 1;

  UnsupportedPolicyException(String message) {
    super(message);
  }

  public UnsupportedPolicyException(String message, Throwable cause) {
    super(message, cause);
  }
}
