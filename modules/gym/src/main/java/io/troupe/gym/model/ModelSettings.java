package io.troupe.gym.model;

import static io.troupe.core.Require.require;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * The settings of requests to a language model.
 *
 * @param protocol of its server
 * @param url of the server, without the path of the protocol's endpoint
 * @param apiKey none for a server without one
 * @param maxTokens of an answer
 * @param attempts at one question, while the server is busy or away
 * @param prices of tokens
 */
public record ModelSettings(
    ModelProtocol protocol,
    URI url,
    String model,
    Optional<String> apiKey,
    double temperature,
    int maxTokens,
    int attempts,
    Prices prices) {
  /**
   * The prices of tokens, and the time limit of an answer.
   *
   * @param input dollars for a million tokens of requests
   * @param output dollars for a million tokens of answers
   */
  public record Prices(double input, double output, Duration timeout) {
    public Prices {
      require(input >= 0 && output >= 0, "prices are 0 or greater, not %s and %s", input, output);
    }

    long microDollars(long inputTokens, long outputTokens) {
      return (long) Math.ceil(input * inputTokens + output * outputTokens);
    }
  }

  public ModelSettings {
    require(maxTokens >= 1, "model.max_tokens is 1 or greater, not %d", maxTokens);
    require(attempts >= 1, "model.attempts is 1 or greater, not %d", attempts);
    require(temperature >= 0, "model.temperature is 0 or greater, not %s", temperature);
  }
}
