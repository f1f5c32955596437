package io.troupe.engine.http.protocol;

import java.io.Serial;

/** What a server sent is not what its dialect says. */
public final class MalformedAnswerException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  public MalformedAnswerException(String message) {
    super(message);
  }
}
