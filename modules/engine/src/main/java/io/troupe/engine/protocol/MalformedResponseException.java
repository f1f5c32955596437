package io.troupe.engine.protocol;

import java.io.Serial;

/** What a server sent is not what its dialect says. */
public final class MalformedResponseException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  public MalformedResponseException(String message) {
    super(message);
  }
}
