package io.troupe.engine.http;

import io.troupe.engine.http.protocol.Fault;
import java.io.Serial;

/** A call of a server failed. */
public final class EndpointException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final transient Fault fault;
  private final int tokens;

  /**
   * Of a call that had brought so many tokens.
   *
   * @param where the server
   */
  public EndpointException(Endpoint where, Fault fault, int tokens) {
    super("%s: %s".formatted(where, fault));
    this.fault = fault;
    this.tokens = tokens;
  }

  public Fault fault() {
    return fault;
  }

  /** Tokens that had come before it failed. */
  public int tokens() {
    return tokens;
  }
}
