package io.troupe.gateway.dialog;

import java.io.Serial;

/** A request that cannot be answered, through the fault of the agent. */
public final class MalformedTurnException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  private final String parameter;

  /**
   * Names what is wrong.
   *
   * @param parameter field of the request
   */
  public MalformedTurnException(String parameter, String message) {
    super(message);
    this.parameter = parameter;
  }

  public String parameter() {
    return parameter;
  }
}
