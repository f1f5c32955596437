package io.troupe.console;

import io.troupe.console.http.ApiException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The part of an address behind its question mark. */
final class QueryString {
  private final Map<String, String> values = new HashMap<>();

  private QueryString() {}

  static QueryString of(String raw) throws ApiException {
    QueryString query = new QueryString();
    try {
      for (String pair : raw.split("&", -1)) {
        int equals = pair.indexOf('=');
        if (equals > 0) {
          query.values.put(
              URLDecoder.decode(pair.substring(0, equals), StandardCharsets.UTF_8),
              URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        }
      }
    } catch (IllegalArgumentException malformed) {
      throw new ApiException(400, "the query is not well formed: " + malformed.getMessage());
    }
    return query;
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  long number(String name, long otherwise) throws ApiException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException notOne) {
      throw new ApiException(400, "%s is a whole number, not '%s'".formatted(name, value));
    }
  }
}
