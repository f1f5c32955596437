package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.serve.model.HttpErrorException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads how a request wants to be sampled. A field that would change the sampling and that the
 * engine does not support is refused, unless its value is the engine's behaviour anyway. Other
 * unknown fields are ignored, because clients send many.
 */
final class SamplingFields {
  private static final int MOST_STOPS = 1024;
  private static final int MOST_TEXT = 4096;

  private SamplingFields() {}

  static void refuseUnsupported(JsonNode body) throws HttpErrorException {
    for (String penalty : List.of("presence_penalty", "frequency_penalty")) {
      if (body.path(penalty).asDouble(0) != 0) {
        throw HttpErrorException.bad(
            penalty, penalty + " is not computed here; leave it out, or send 0");
      }
    }
    for (String flag : List.of("ignore_eos", "use_beam_search")) {
      if (body.path(flag).asBoolean(false)) {
        throw HttpErrorException.bad(flag, flag + " is not offered here; leave it out");
      }
    }
    for (String object : List.of("logit_bias", "guided_json", "structured_outputs")) {
      if (!body.path(object).isEmpty()) {
        throw HttpErrorException.bad(object, object + " is not offered here; leave it out");
      }
    }
    if (body.path("min_tokens").asInt(0) != 0 || body.path("best_of").asInt(1) > 1) {
      throw HttpErrorException.bad(
          "min_tokens", "min_tokens and best_of are not offered here; leave them out");
    }
  }

  static SamplingSettings settings(JsonNode body, int maxTokens) throws HttpErrorException {
    if (body.path("stop_token_ids").size() > MOST_STOPS) {
      throw HttpErrorException.bad(
          "stop_token_ids", "stop_token_ids has at most %d ids".formatted(MOST_STOPS));
    }
    Set<Integer> stopIds = new HashSet<>();
    for (JsonNode id : body.path("stop_token_ids")) {
      if (!id.canConvertToInt() || id.intValue() < 0) {
        throw HttpErrorException.bad("stop_token_ids", "stop_token_ids are ids, and one is " + id);
      }
      stopIds.add(id.intValue());
    }
    int topK = NumberFields.integer(body, "top_k", 0, -1, Integer.MAX_VALUE);
    try {
      return new SamplingSettings(
          NumberFields.number(body, "temperature", 1),
          NumberFields.number(body, "top_p", 1),
          Math.max(0, topK),
          NumberFields.number(body, "min_p", 0),
          NumberFields.number(body, "repetition_penalty", 1),
          maxTokens,
          stopIds,
          stops(body.path("stop")),
          false);
    } catch (IllegalArgumentException outOfRange) {
      throw HttpErrorException.of(400, "BadRequestError", String.valueOf(outOfRange.getMessage()));
    }
  }

  private static List<String> stops(JsonNode node) throws HttpErrorException {
    boolean longer = node.isTextual() && node.textValue().length() > MOST_TEXT;
    for (JsonNode stop : node) {
      longer |= stop.isTextual() && stop.textValue().length() > MOST_TEXT;
    }
    if (node.size() > MOST_STOPS || longer) {
      throw HttpErrorException.bad(
          "stop", "stop has at most %d texts of %d characters".formatted(MOST_STOPS, MOST_TEXT));
    }
    if (node.isTextual()) {
      return List.of(node.textValue());
    }
    List<String> stops = new ArrayList<>();
    for (JsonNode stop : node) {
      if (!stop.isTextual()) {
        throw HttpErrorException.bad(
            "stop",
            "stop is a text or a list of texts, not " + JsonFields.excerpt(node.toString()));
      }
      stops.add(stop.textValue());
    }
    return stops;
  }
}
