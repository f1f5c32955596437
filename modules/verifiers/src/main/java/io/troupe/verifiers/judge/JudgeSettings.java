package io.troupe.verifiers.judge;

import static io.troupe.core.Require.require;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * The model that judges, and its settings.
 *
 * @param endpoint base URL of an OpenAI-compatible server, up to and with its {@code /v1}
 * @param model the server's name for the model
 * @param apiKey sent as a bearer token; never logged
 * @param rubric the instructions for the model
 * @param maxTokens most tokens of its reply
 * @param maxChars most characters of what is judged; more than that is worth 0
 * @param attempts most requests for one completion, when the server is busy or the reply contains
 *     no score
 * @param timeout of one request
 */
public record JudgeSettings(
    URI endpoint,
    String model,
    Optional<String> apiKey,
    Rubric rubric,
    int maxTokens,
    int maxChars,
    int attempts,
    Duration timeout) {
  public JudgeSettings {
    require(
        "http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()),
        "a judge's endpoint is an http or https URL such as http://127.0.0.1:8000/v1, not %s",
        endpoint);
    require(!model.isBlank(), "a judge needs the name of a model");
    require(maxTokens >= 1, "a judge's reply has 1 token or more, not %d", maxTokens);
    require(maxChars >= 1, "a judge reads 1 character or more, not %d", maxChars);
    require(attempts >= 1, "a judge is asked once or more, not %d times", attempts);
  }

  @Override
  public String toString() {
    return "JudgeSettings[%s, %s]".formatted(endpoint, model);
  }
}
