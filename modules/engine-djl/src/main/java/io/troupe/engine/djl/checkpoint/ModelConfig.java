package io.troupe.engine.djl.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.djl.model.DecoderFamily;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.safetensors.PeftFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * config.json of a Hugging Face checkpoint.
 *
 * @param settings the architecture it describes; {@code initStd} has no effect on given weights
 * @param vocabulary rows of the embedding, which may exceed the tokenizer's ids
 * @param endIds ids that end a text; may be empty
 * @param json content of the file
 */
record ModelConfig(
    DecoderSettings settings, int vocabulary, List<Integer> endIds, ObjectNode json) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double DEFAULT_EPSILON = 1e-6;
  private static final double DEFAULT_STD = .02;

  /** The window of Qwen where the configuration does not name one, as transformers has it. */
  private static final int USUAL_WINDOW = 4096;

  /** The first layer of Qwen with a window where the configuration does not name it. */
  private static final int USUAL_WHOLE_LAYERS = 28;

  ModelConfig {
    endIds = List.copyOf(endIds);
    json = json.deepCopy();
  }

  /** Returns the configuration of a policy that was not read from a checkpoint. */
  static ModelConfig of(DecoderSettings s, int vocabulary, int endOfSequence) {
    ObjectNode node = JSON.createObjectNode();
    node.putArray("architectures").add(s.family().architecture());
    node.put("attention_bias", s.family().biases());
    node.put("attention_dropout", 0.0);
    node.put("eos_token_id", endOfSequence);
    node.put("head_dim", s.headDim());
    node.put("hidden_act", "silu");
    node.put("hidden_size", s.hidden());
    node.put("initializer_range", s.initStd());
    node.put("intermediate_size", s.feedForward());
    node.put("max_position_embeddings", s.contextLength());
    node.put("model_type", s.family().modelType());
    node.put("num_attention_heads", s.heads());
    node.put("num_hidden_layers", s.layers());
    node.put("num_key_value_heads", s.kvHeads());
    node.put("rms_norm_eps", s.normEpsilon());
    RopeConfig.write(s.ropeScaling(), node);
    node.put("rope_theta", s.ropeTheta());
    node.put("tie_word_embeddings", s.tiedEmbeddings());
    node.put("use_sliding_window", false);
    node.put("vocab_size", vocabulary);
    return new ModelConfig(s, vocabulary, List.of(endOfSequence), node).storedAs("float32");
  }

  /**
   * Returns this configuration for stored weights of a type, in words that transformers 4 and 5
   * understand alike: both names of the type, and both forms of rotary positions.
   */
  ModelConfig storedAs(String type) {
    ObjectNode node = json.deepCopy();
    node.put("dtype", type);
    node.put("torch_dtype", type);
    RopeConfig.writeForAllVersions(node, settings.ropeTheta());
    return new ModelConfig(settings, vocabulary, endIds, node);
  }

  byte[] bytes() throws JsonProcessingException {
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(json);
  }

  /**
   * Reads a file.
   *
   * @throws IOException if the file is missing, is no configuration, or describes an unsupported
   *     model; the message names the key, the rule and the value
   */
  static ModelConfig read(Path file) throws IOException {
    try {
      if (JSON.readTree(Files.readAllBytes(file)) instanceof ObjectNode node) {
        return new Reader(file, node).read();
      }
      throw new IOException("%s is no JSON object".formatted(file));
    } catch (NoSuchFileException missing) {
      throw new IOException(
          Files.exists(file.resolveSibling(PeftFolder.CONFIG))
              ? "%s holds an adapter (%s) and no model; merge it into its base by merge_and_unload of peft, or name the folder above it if a run saved it: that model has it in its weights"
                  .formatted(file.toAbsolutePath().getParent(), PeftFolder.CONFIG)
              : "%s is missing; a checkpoint is a directory with config.json and safetensors files"
                  .formatted(file),
          missing);
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(file), failure);
    } catch (IllegalArgumentException unfit) {
      throw new IOException("%s: %s".formatted(file, unfit.getMessage()), unfit);
    }
  }

  /** Reads keys of one file; a refusal names the key, and the caller adds the file. */
  private record Reader(Path file, ObjectNode node) {
    ModelConfig read() {
      DecoderFamily family = family();
      refuseWhatIsNotComputed(family);
      int hidden = required("hidden_size");
      int heads = required("num_attention_heads");
      int layers = required("num_hidden_layers");
      refuseSlidingWindow(layers);
      int context = required("max_position_embeddings");
      DecoderSettings settings =
          new DecoderSettings(
              family,
              hidden,
              layers,
              heads,
              optional("num_key_value_heads").orElse(heads),
              headDim(family, hidden, heads),
              required("intermediate_size"),
              context,
              RopeConfig.theta(node),
              RopeConfig.scaling(node, context),
              node.path("rms_norm_eps").asDouble(DEFAULT_EPSILON),
              node.path("tie_word_embeddings").asBoolean(false),
              DEFAULT_STD);
      return new ModelConfig(
          settings, required("vocab_size"), ids(node.path("eos_token_id")), node);
    }

    /** Null is the width of the residual stream over the heads, in all families. */
    private int headDim(DecoderFamily family, int hidden, int heads) {
      return node.path("head_dim").isNull()
          ? hidden / heads
          : optional("head_dim").orElse(family.usualHeadDim(hidden, heads));
    }

    private DecoderFamily family() {
      List<String> known =
          Arrays.stream(DecoderFamily.values()).map(DecoderFamily::architecture).toList();
      JsonNode named = node.path("architectures").path(0);
      String type = node.path("model_type").asText();
      for (DecoderFamily family : DecoderFamily.values()) {
        if (named.isMissingNode()
            ? family.modelType().equals(type)
            : family.architecture().equals(named.asText())) {
          return family;
        }
      }
      throw new IllegalArgumentException(
          "the architecture %s (model_type '%s') is none that is computed here; these are: %s"
              .formatted(named.isMissingNode() ? "is not named and" : named, type, known));
    }

    private void refuseWhatIsNotComputed(DecoderFamily family) {
      JsonNode activation = node.path("hidden_act");
      refuse(
          !activation.isMissingNode() && !activation.asText().equals("silu"),
          "hidden_act is %s; only silu is computed here",
          activation);
      refuse(
          !family.biases() && node.path("attention_bias").asBoolean(false),
          "attention_bias is true; %s has no bias here",
          family.architecture());
      refuse(
          node.path("mlp_bias").asBoolean(false),
          "mlp_bias is true; the feed-forward block has no bias here",
          "");
      for (JsonNode place :
          List.of(node, node.path("rope_parameters"), node.path("rope_scaling"))) {
        refuse(
            place.path("partial_rotary_factor").asDouble(1) != 1,
            "partial_rotary_factor is %s; only whole heads are rotated here",
            place.path("partial_rotary_factor"));
      }
      refuse(
          node.path("quantization_config").isObject(),
          "the weights are quantized (%s); take the checkpoint they were quantized from",
          node.path("quantization_config").path("quant_method"));
    }

    /** A window is active if a layer looks no further back than it. */
    private void refuseSlidingWindow(int layers) {
      boolean listed = false;
      for (JsonNode type : node.path("layer_types")) {
        listed = true;
        refuse(
            !type.asText().equals("full_attention"),
            "layer_types has %s; every layer attends to all that is before it here",
            type);
      }
      boolean used =
          node.path("use_sliding_window").asBoolean(false)
              && node.path("sliding_window").asLong(node.has("sliding_window") ? 0 : USUAL_WINDOW)
                  > 0
              && node.path("max_window_layers").asInt(USUAL_WHOLE_LAYERS) < layers;
      refuse(
          !listed && used,
          "use_sliding_window is true with a sliding_window of %s; every layer attends to all that"
              + " is before it here",
          node.path("sliding_window").asLong(USUAL_WINDOW));
    }

    private static void refuse(boolean so, String rule, Object value) {
      if (so) {
        throw new IllegalArgumentException(rule.replace("%s", value.toString()));
      }
    }

    private int required(String key) {
      return optional(key)
          .orElseThrow(() -> new IllegalArgumentException("%s is missing".formatted(key)));
    }

    private Optional<Integer> optional(String key) {
      JsonNode value = node.path(key);
      if (value.isMissingNode() || value.isNull()) {
        return Optional.empty();
      }
      if (!value.canConvertToInt() || !value.isIntegralNumber() || value.intValue() < 1) {
        throw new IllegalArgumentException(
            "%s is a whole number, 1 or greater, not %s".formatted(key, value));
      }
      return Optional.of(value.intValue());
    }
  }

  /** Returns ids that are one number, a list, or absent. */
  static List<Integer> ids(JsonNode value) {
    List<Integer> ids = new ArrayList<>();
    if (value.isArray()) {
      value.forEach(id -> ids.addAll(ids(id)));
    } else if (value.canConvertToInt() && value.isIntegralNumber()) {
      ids.add(value.intValue());
    }
    return ids;
  }
}
