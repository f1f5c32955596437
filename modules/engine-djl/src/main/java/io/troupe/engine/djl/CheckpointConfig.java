package io.troupe.engine.djl;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** config.json in the layout of Hugging Face's Qwen3, so that other tools load the weights. */
final class CheckpointConfig {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What must agree for the weights to mean the same. */
  private static final List<String> ARCHITECTURE =
      List.of(
          "model_type",
          "hidden_size",
          "num_hidden_layers",
          "num_attention_heads",
          "num_key_value_heads",
          "head_dim",
          "intermediate_size",
          "max_position_embeddings",
          "rope_theta",
          "rms_norm_eps",
          "tie_word_embeddings",
          "vocab_size",
          "eos_token_id");

  private CheckpointConfig() {}

  static byte[] json(DecoderSettings s, Tokenizer tokenizer) throws JsonProcessingException {
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(node(s, tokenizer));
  }

  /**
   * Compares a file with this run's policy.
   *
   * @throws IOException if it cannot be read or differs; the message names the key and both values
   */
  static void check(Path file, DecoderSettings settings, Tokenizer tokenizer) throws IOException {
    JsonNode found;
    try {
      found = JSON.readTree(Files.readAllBytes(file));
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(file), failure);
    }
    // Through text, so that a number read and a number made are of the same class.
    JsonNode expected = JSON.readTree(json(settings, tokenizer));
    for (String key : ARCHITECTURE) {
      if (!expected.path(key).equals(found.path(key))) {
        throw new IOException(
            "%s: %s is %s, but this run's policy has %s"
                .formatted(file, key, found.path(key), expected.path(key)));
      }
    }
  }

  private static ObjectNode node(DecoderSettings s, Tokenizer tokenizer) {
    ObjectNode node = JSON.createObjectNode();
    node.putArray("architectures").add("Qwen3ForCausalLM");
    node.put("attention_bias", false);
    node.put("attention_dropout", 0.0);
    node.put("eos_token_id", tokenizer.endOfSequence());
    node.put("head_dim", s.headDim());
    node.put("hidden_act", "silu");
    node.put("hidden_size", s.hidden());
    node.put("initializer_range", s.initStd());
    node.put("intermediate_size", s.feedForward());
    node.put("max_position_embeddings", s.contextLength());
    node.put("model_type", "qwen3");
    node.put("num_attention_heads", s.heads());
    node.put("num_hidden_layers", s.layers());
    node.put("num_key_value_heads", s.kvHeads());
    node.put("rms_norm_eps", s.normEpsilon());
    node.putNull("rope_scaling");
    node.put("rope_theta", s.ropeTheta());
    node.put("tie_word_embeddings", s.tiedEmbeddings());
    node.put("torch_dtype", "float32");
    node.put("use_sliding_window", false);
    node.put("vocab_size", tokenizer.vocabularySize());
    return node;
  }
}
