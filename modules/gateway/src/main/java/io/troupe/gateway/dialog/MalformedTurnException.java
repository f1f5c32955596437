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
   * @param message which the field's name comes before, if it is not in it
   */
  public MalformedTurnException(String parameter, String message) {
    super(naming(parameter, message));
    this.parameter = parameter;
  }

  /** Returns a message about a field that has the field's name: most clients show it alone. */
  public static String naming(String parameter, String message) {
    return message.contains(parameter) ? message : "%s: %s".formatted(parameter, message);
  }

  public String parameter() {
    return parameter;
  }
}
