package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.SamplingSettings;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads how a request wants to be sampled. The fields are checked already. */
final class SamplingFields {
  private SamplingFields() {}

  /** Settings without stop texts. */
  static SamplingSettings settings(JsonNode body, int maxTokens) {
    Set<Integer> stopIds = new HashSet<>();
    body.path("stop_token_ids").forEach(id -> stopIds.add(id.intValue()));
    return new SamplingSettings(
        body.path("temperature").asDouble(1),
        body.path("top_p").asDouble(1),
        Math.max(0, body.path("top_k").asInt(0)),
        body.path("min_p").asDouble(0),
        body.path("repetition_penalty").asDouble(1),
        maxTokens,
        stopIds,
        List.of(),
        false);
  }

  static List<String> stops(JsonNode node) {
    if (node.isTextual()) {
      return List.of(node.textValue());
    }
    List<String> stops = new ArrayList<>();
    node.forEach(stop -> stops.add(stop.textValue()));
    return stops;
  }
}
