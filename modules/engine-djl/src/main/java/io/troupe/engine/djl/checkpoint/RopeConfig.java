package io.troupe.engine.djl.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.djl.model.RopeScaling;
import java.util.Optional;

/**
 * Rotary positions in config.json: {@code rope_theta} and {@code rope_scaling}, with the variant
 * under {@code rope_type} or the older {@code type}; or, from transformers 5 on, all of it under
 * {@code rope_parameters}.
 */
final class RopeConfig {
  private static final String SCALING = "rope_scaling";
  private static final String PARAMETERS = "rope_parameters";
  private static final String ORIGINAL = "original_max_position_embeddings";
  private static final double BETA_FAST = 32;
  private static final double BETA_SLOW = 1;

  private RopeConfig() {}

  static Optional<Double> theta(JsonNode config) {
    JsonNode inner = config.path(PARAMETERS).path("rope_theta");
    JsonNode value = inner.isNumber() ? inner : config.path("rope_theta");
    return value.isNumber() ? Optional.of(value.doubleValue()) : Optional.empty();
  }

  /**
   * Returns how the frequencies change.
   *
   * @param context max_position_embeddings
   * @throws IllegalArgumentException if the variant is unsupported, or lacks a number
   */
  static RopeScaling scaling(JsonNode config, int context) {
    JsonNode node =
        config.path(SCALING).isObject() ? config.path(SCALING) : config.path(PARAMETERS);
    String type = node.path("rope_type").asText(node.path("type").asText("default"));
    return switch (type) {
      case "default" -> new RopeScaling.None();
      case "linear" -> new RopeScaling.Linear(number(node, type, "factor"));
      case "llama3" ->
          new RopeScaling.Llama3(
              number(node, type, "factor"),
              number(node, type, "low_freq_factor"),
              number(node, type, "high_freq_factor"),
              (int) number(node, type, ORIGINAL));
      case "yarn" -> yarn(node, context);
      default ->
          throw new IllegalArgumentException(
              "rope scaling of the type '%s' is not computed here; default, linear, llama3 and yarn"
                      .formatted(type)
                  + " are");
    };
  }

  private static RopeScaling yarn(JsonNode node, int context) {
    int original = node.path(ORIGINAL).asInt(context);
    double factor = node.path("factor").asDouble((double) context / original);
    double mscale = node.path("mscale").asDouble(0);
    double all = node.path("mscale_all_dim").asDouble(0);
    double attention =
        mscale != 0 && all != 0
            ? RopeScaling.Yarn.attention(factor, mscale) / RopeScaling.Yarn.attention(factor, all)
            : RopeScaling.Yarn.attention(factor, 1);
    return new RopeScaling.Yarn(
        factor,
        original,
        node.path("attention_factor").asDouble(attention),
        node.path("beta_fast").asDouble(BETA_FAST),
        node.path("beta_slow").asDouble(BETA_SLOW),
        node.path("truncate").asBoolean(true));
  }

  private static double number(JsonNode node, String type, String key) {
    JsonNode value = node.path(key);
    if (!value.isNumber()) {
      throw new IllegalArgumentException(
          "rope scaling of the type '%s' needs the number %s, and it is %s"
              .formatted(type, key, value.isMissingNode() ? "missing" : value));
    }
    return value.doubleValue();
  }

  /** Writes {@code rope_scaling}, so that {@link #scaling} reads the same. */
  static void write(RopeScaling scaling, ObjectNode config) {
    switch (scaling) {
      case RopeScaling.None _ -> config.putNull(SCALING);
      case RopeScaling.Linear(double factor) ->
          config.putObject(SCALING).put("rope_type", "linear").put("factor", factor);
      case RopeScaling.Llama3 s ->
          config
              .putObject(SCALING)
              .put("rope_type", "llama3")
              .put("factor", s.factor())
              .put("low_freq_factor", s.lowFrequency())
              .put("high_freq_factor", s.highFrequency())
              .put(ORIGINAL, s.originalContext());
      case RopeScaling.Yarn s ->
          config
              .putObject(SCALING)
              .put("rope_type", "yarn")
              .put("factor", s.factor())
              .put(ORIGINAL, s.originalContext())
              .put("attention_factor", s.attentionFactor())
              .put("beta_fast", s.betaFast())
              .put("beta_slow", s.betaSlow())
              .put("truncate", s.truncate());
    }
  }
}
