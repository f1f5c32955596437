package io.troupe.gateway;

import io.troupe.gateway.wire.AgentDialect.Refusal;
import java.io.Serial;

/** A request of an agent is not answered. */
final class RefusedTurnException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  private final transient Refusal refusal;

  RefusedTurnException(int status, String code, String message) {
    this(new Refusal(status, code, "", message));
  }

  RefusedTurnException(Refusal refusal) {
    super(refusal.message());
    this.refusal = refusal;
  }

  Refusal refusal() {
    return refusal;
  }
}
