package io.troupe.verifiers.code;

import java.io.IOException;

/** Programs cannot be judged on this machine; the message says why, and what to do. */
public final class SandboxUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  SandboxUnavailableException(String message) {
    super(message);
  }
}
