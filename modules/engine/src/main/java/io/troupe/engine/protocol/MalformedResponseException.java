package io.troupe.engine.protocol;

import java.io.Serial;

/** A server's response breaks the rules of its protocol. */
public final class MalformedResponseException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  public MalformedResponseException(String message) {
    super(message);
  }
}
