package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.serve.model.HttpErrorException;

/** Reads numbers from the body of a request; a field of another type or range is refused. */
final class NumberFields {
  private NumberFields() {}

  static int integer(JsonNode body, String name, int absent, int min, int max)
      throws HttpErrorException {
    if (!body.hasNonNull(name)) {
      return absent;
    }
    long value = whole(body, name);
    if (value < min || value > max) {
      throw HttpErrorException.bad(
          name, "%s lies in [%d, %d], and is %d".formatted(name, min, max, value));
    }
    return (int) value;
  }

  static long whole(JsonNode body, String name) throws HttpErrorException {
    JsonNode node = body.path(name);
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw HttpErrorException.bad(name, "%s is a whole number, not %s".formatted(name, node));
    }
    return node.longValue();
  }

  static double number(JsonNode body, String name, double absent) throws HttpErrorException {
    if (!body.hasNonNull(name)) {
      return absent;
    }
    if (!body.path(name).isNumber()) {
      throw HttpErrorException.bad(name, "%s is a number, not %s".formatted(name, body.path(name)));
    }
    return body.path(name).doubleValue();
  }
}
