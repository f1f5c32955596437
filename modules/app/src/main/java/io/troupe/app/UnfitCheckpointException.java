package io.troupe.app;

import java.io.IOException;

/** The checkpoint that a policy is to start from cannot be used; the message says why. */
final class UnfitCheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  UnfitCheckpointException(String message, Throwable cause) {
    super(message, cause);
  }
}
