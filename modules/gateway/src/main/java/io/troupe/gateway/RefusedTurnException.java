package io.troupe.gateway;

import io.troupe.gateway.wire.AgentDialect.Refusal;
import java.io.Serial;

/** A request of an agent is not answered. */
public final class RefusedTurnException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  private final transient Refusal refusal;

  /** A refusal for no field of the request. */
  public RefusedTurnException(int status, String code, String message) {
    this(new Refusal(status, code, "", message));
  }

  /** A refusal. */
  public RefusedTurnException(Refusal refusal) {
    super(refusal.message());
    this.refusal = refusal;
  }

  /** Returns the refusal that the agent is sent. */
  public Refusal refusal() {
    return refusal;
  }
}
