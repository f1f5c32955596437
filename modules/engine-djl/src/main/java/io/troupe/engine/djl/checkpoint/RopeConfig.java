package io.troupe.engine.djl.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.djl.model.RopeScaling;
import java.util.List;

/**
 * Rotary positions in config.json: {@code rope_theta} and {@code rope_scaling}, with the variant
 * under {@code rope_type} or the older {@code type}; or, from transformers 5 on, all of it under
 * {@code rope_parameters}.
 */
final class RopeConfig {
  private static final String SCALING = "rope_scaling";
  private static final String PARAMETERS = "rope_parameters";
  private static final String THETA = "rope_theta";
  private static final String DEFAULT = "default";
  private static final double DEFAULT_THETA = 10_000;
  private static final String ORIGINAL = "original_max_position_embeddings";
  private static final double BETA_FAST = 32;
  private static final double BETA_SLOW = 1;

  private RopeConfig() {}

  /** Returns the base of the wavelengths. */
  static double theta(JsonNode config) {
    JsonNode inner = given(config).path(THETA);
    return (inner.isNumber() ? inner : config.path(THETA)).asDouble(DEFAULT_THETA);
  }

  /** Of two forms, transformers reads the older one, unless that is null. */
  private static JsonNode given(JsonNode config) {
    return config.path(SCALING).isObject() ? config.path(SCALING) : config.path(PARAMETERS);
  }

  /**
   * Returns how the frequencies change.
   *
   * @param context max_position_embeddings
   * @throws IllegalArgumentException if the variant is unsupported, or lacks a number, or if a
   *     number is there twice with two values, of which each version of transformers takes another
   */
  static RopeScaling scaling(JsonNode config, int context) {
    for (String key : List.of(THETA, ORIGINAL)) {
      JsonNode inner = given(config).path(key);
      if (inner.isNumber()
          && config.path(key).isNumber()
          && inner.doubleValue() != config.path(key).doubleValue()) {
        throw new IllegalArgumentException(
            "%s is %s, and within %s it is %s; versions of transformers differ in which they take, so make them equal"
                .formatted(
                    key,
                    config.path(key),
                    config.path(SCALING).isObject() ? SCALING : PARAMETERS,
                    inner));
      }
    }
    JsonNode node = withOriginal(config);
    String type = type(node);
    return switch (type) {
      case DEFAULT -> new RopeScaling.None();
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

  /** Transformers 5 reads the length of the original training outside of the scaling too. */
  private static JsonNode withOriginal(JsonNode config) {
    JsonNode node = given(config);
    if (node.isObject() && !node.has(ORIGINAL) && config.path(ORIGINAL).isNumber()) {
      return node.<ObjectNode>deepCopy().set(ORIGINAL, config.path(ORIGINAL));
    }
    return node;
  }

  /**
   * Writes what transformers 4 reads beside what only transformers 5 reads: {@code rope_theta} and
   * {@code rope_scaling} of {@code rope_parameters}, and within them the length of the original
   * training.
   */
  static void writeForAllVersions(ObjectNode config, double theta) {
    JsonNode node = withOriginal(config);
    if (!node.isObject()) {
      return;
    }
    if (node.has(THETA)) {
      config.put(THETA, theta);
    }
    if (!type(node).equals(DEFAULT)) {
      ObjectNode scaling = node.deepCopy();
      scaling.remove(THETA);
      config.set(SCALING, scaling);
    }
  }

  private static String type(JsonNode node) {
    return node.path("rope_type").asText(node.path("type").asText(DEFAULT));
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
