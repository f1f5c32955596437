package io.troupe.base.sandbox;

import java.io.IOException;

/** This machine cannot confine programs; the message gives cause and remedy. */
public final class SandboxUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  public SandboxUnavailableException(String message) {
    super(message);
  }
}
