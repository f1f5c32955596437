package io.troupe.app;

import java.io.IOException;

/**
 * The policy that a run asks for cannot be had here: its checkpoint or its device; the message says
 * why.
 */
final class UnfitPolicyException extends IOException {
  private static final long serialVersionUID = 1;

  UnfitPolicyException(String message) {
    super(message);
  }

  UnfitPolicyException(String message, Throwable cause) {
    super(message, cause);
  }
}
