package io.troupe.engine.http.serve;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.http.protocol.Fields;
import java.io.Serial;

/** Why a request is answered with an error. */
final class Refusal extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  private final int status;
  private final String type;
  private final String parameter;

  private Refusal(int status, String type, String parameter, String message) {
    super(message);
    this.status = status;
    this.type = type;
    this.parameter = parameter;
  }

  /** A field is wrong. */
  static Refusal bad(String parameter, String message) {
    return new Refusal(400, "BadRequestError", parameter, message);
  }

  static Refusal of(int status, String type, String message) {
    return new Refusal(status, type, "", message);
  }

  int status() {
    return status;
  }

  /** The object that OpenAI's and vLLM's clients expect. */
  ObjectNode json() {
    ObjectNode json = Fields.object();
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
