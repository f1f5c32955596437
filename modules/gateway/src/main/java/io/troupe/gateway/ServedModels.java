package io.troupe.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.JsonFields;

/** The route {@code models}, in a form that clients of OpenAI and of Anthropic read. */
final class ServedModels {
  private static final String ROUTE = "models";
  private static final String ONE = ROUTE + "/";

  private ServedModels() {}

  /** Whether a route behind {@code /v1/} asks for models, or for one. */
  static boolean lists(String route) {
    return route.equals(ROUTE) || route.startsWith(ONE);
  }

  /** Returns the policy, under whatever name a client asks for. */
  static JsonNode answer(String route) {
    if (route.startsWith(ONE)) {
      return model(route.substring(ONE.length()));
    }
    ObjectNode json = JsonFields.object().put("object", "list");
    json.putArray("data").add(model("policy"));
    return json.put("has_more", false).put("first_id", "policy").put("last_id", "policy");
  }

  private static ObjectNode model(String name) {
    return JsonFields.object()
        .put("id", name)
        .put("object", "model")
        .put("created", 0)
        .put("owned_by", "troupe")
        .put("type", "model")
        .put("display_name", name)
        .put("created_at", "1970-01-01T00:00:00Z");
  }
}
