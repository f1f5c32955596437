package io.troupe.serve.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.failure.Causes;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import java.io.Serial;

/** A request is answered with an error. */
public final class HttpErrorException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  private final int status;
  private final String type;
  private final String parameter;

  private HttpErrorException(int status, String type, String parameter, String message) {
    super(message);
    this.status = status;
    this.type = type;
    this.parameter = parameter;
  }

  /** A field of the request is wrong. */
  public static HttpErrorException bad(String parameter, String message) {
    return new HttpErrorException(
        400, "BadRequestError", parameter, MalformedTurnException.naming(parameter, message));
  }

  /** A request is refused, or failed, for no field of it. */
  public static HttpErrorException of(int status, String type, String message) {
    return new HttpErrorException(status, type, "", message);
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the refusal that agents receive. */
  public Refusal refusal() {
    return new Refusal(status, type, parameter, Causes.message(this));
  }

  /** The error object that clients of OpenAI and vLLM expect. */
  public ObjectNode json() {
    ObjectNode json = JsonFields.object();
    ObjectNode error = json.putObject("error");
    error.put("message", getMessage()).put("type", type);
    if (parameter.isEmpty()) {
      error.putNull("param");
    } else {
      error.put("param", parameter);
    }
    error.put("code", status);
    return json;
  }
}
