package io.troupe.verifiers.code;

import java.io.IOException;

/** This machine cannot judge programs; the message gives cause and remedy. */
public final class SandboxUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  SandboxUnavailableException(String message) {
    super(message);
  }
}
