package io.troupe.console.chat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.console.http.ApiException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A user's request to the policy, as it comes over the wire: {@code {"prompt": "3+4=",
 * "temperature": 0.7, "max_tokens": 64, "template": false}}. All but the prompt may be left out.
 *
 * @param prompt not empty
 * @param template whether the prompt is put as a chat message; otherwise it is text to continue
 * @param temperature 0 to {@value #HOTTEST}; 0 always takes the most probable token
 * @param maxTokens most tokens of the answer, 1 or more
 */
public record ChatRequest(String prompt, boolean template, double temperature, int maxTokens) {
  /** Most tokens that an answer may have, in any context. */
  public static final int MOST_TOKENS = 2_048;

  /** Greatest temperature: beyond it all tokens are about equally probable. */
  public static final double HOTTEST = 5;

  private static final Set<String> FIELDS =
      Set.of("prompt", "template", "temperature", "max_tokens");

  /** Reads a question, and holds it against what may be asked. */
  static ChatRequest of(JsonNode body, Chat.Open offer) throws ApiException {
    for (var field : body.properties()) {
      if (!FIELDS.contains(field.getKey())) {
        throw new ApiException(
            400,
            "a question has no '%s'; it has %s"
                .formatted(field.getKey(), String.join(", ", new TreeSet<>(FIELDS))));
      }
    }
    return new ChatRequest(
        prompt(body), template(body, offer), temperature(body, offer), maxTokens(body, offer));
  }

  /**
   * Returns the reason why a prompt does not fit, if it does not.
   *
   * @param promptTokens of the prompt as the policy reads it
   * @param contextLength most tokens of prompt and answer together
   */
  public static Optional<String> objection(int promptTokens, int contextLength) {
    if (promptTokens == 0) {
      return Optional.of("the prompt has no token; write something");
    }
    return promptTokens < contextLength
        ? Optional.empty()
        : Optional.of(
            "the prompt has %d tokens, and the context holds %d with the answer; shorten it by at least %d"
                .formatted(promptTokens, contextLength, promptTokens - contextLength + 1));
  }

  /** Most tokens of the answer to a prompt that fits. */
  public int room(int promptTokens, int contextLength) {
    return Math.min(maxTokens, contextLength - promptTokens);
  }

  private static String prompt(JsonNode body) throws ApiException {
    JsonNode prompt = body.path("prompt");
    if (!prompt.isTextual() || prompt.asText().isEmpty()) {
      throw new ApiException(400, "prompt is a text of at least one character");
    }
    return prompt.asText();
  }

  private static boolean template(JsonNode body, Chat.Open offer) throws ApiException {
    JsonNode template = body.path("template");
    if (template.isMissingNode()) {
      return offer.template();
    }
    if (!template.isBoolean()) {
      throw new ApiException(400, "template is true or false");
    }
    if (template.asBoolean() && !offer.template()) {
      throw new ApiException(400, "this policy has no chat template; send template: false");
    }
    return template.asBoolean();
  }

  private static double temperature(JsonNode body, Chat.Open offer) throws ApiException {
    JsonNode temperature = body.path("temperature");
    if (temperature.isMissingNode()) {
      return offer.temperature();
    }
    double value = temperature.asDouble();
    if (!temperature.isNumber() || !(value >= 0 && value <= HOTTEST)) {
      throw new ApiException(
          400, "temperature is a number in 0 to %.0f, not %s".formatted(HOTTEST, temperature));
    }
    return value;
  }

  private static int maxTokens(JsonNode body, Chat.Open offer) throws ApiException {
    JsonNode most = body.path("max_tokens");
    if (most.isMissingNode()) {
      return offer.maxTokens();
    }
    if (!most.isInt() || most.asInt() < 1 || most.asInt() > offer.mostTokens()) {
      throw new ApiException(
          400,
          "max_tokens is a whole number in 1 to %d, not %s".formatted(offer.mostTokens(), most));
    }
    return most.asInt();
  }
}
