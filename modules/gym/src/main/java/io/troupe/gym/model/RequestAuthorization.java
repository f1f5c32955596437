package io.troupe.gym.model;

import java.io.IOException;
import java.net.URI;
import java.util.Map;

/** Gives a request the headers that authorise it. */
@FunctionalInterface
public interface RequestAuthorization {
  /**
   * Returns headers for one attempt at a request.
   *
   * @throws IOException if there are no credentials; says what to set
   */
  Map<String, String> headers(URI endpoint, byte[] body) throws IOException;

  /** Requests with the key of the settings, or without any. */
  static RequestAuthorization byKey(ModelSettings settings) {
    Map<String, String> headers =
        settings.apiKey().map(settings.protocol()::keyHeaders).orElse(Map.of());
    return (_, _) -> headers;
  }
}
