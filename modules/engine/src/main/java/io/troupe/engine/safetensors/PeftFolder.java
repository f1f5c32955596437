package io.troupe.engine.safetensors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Adapters in the layout of Hugging Face's PEFT: {@code adapter_config.json} and {@code
 * adapter_model.safetensors}.
 */
public final class PeftFolder {
  public static final String CONFIG = "adapter_config.json";
  public static final String MODEL = "adapter_model.safetensors";

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Keys that would change the computation, with the only value that is read; a missing key, or
   * null, means that value.
   */
  private static final Map<String, String> REQUIRED_VALUES =
      Map.of(
          "peft_type", "LORA",
          "bias", "none",
          "fan_in_fan_out", "false",
          "use_rslora", "false",
          "use_dora", "false",
          "use_qalora", "false",
          "lora_bias", "false");

  /** Keys that would change ranks, scales, layers or tokens; in plain adapters they are empty. */
  private static final List<String> REQUIRED_EMPTY =
      List.of(
          "alpha_pattern",
          "rank_pattern",
          "layer_replication",
          "modules_to_save",
          "target_parameters",
          "trainable_token_indices",
          "alora_invocation_tokens",
          "arrow_config",
          "kasa_config",
          "monteclora_config",
          "use_bdlora");

  /** Initialisations that leave the base as it is; others (pissa, olora, loftq …) change it. */
  private static final Set<String> INITIALISATIONS =
      Set.of("true", "false", "gaussian", "eva", "orthogonal");

  private PeftFolder() {}

  /** Writes both files, for a reader that knows the base, into a directory that exists. */
  public static void write(Path folder, Adapter adapter) throws IOException {
    write(folder, adapter, "", "");
  }

  /**
   * Writes both files into a directory that exists.
   *
   * @param base folder or name of the model below the adapters; empty if it has none
   * @param revision of the base; empty if it has none
   */
  public static void write(Path folder, Adapter adapter, String base, String revision)
      throws IOException {
    Files.write(
        folder.resolve(CONFIG),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(config(adapter, base, revision)));
    SafetensorsFile.write(
        folder.resolve(MODEL),
        adapter.tensors().stream().map(StoredTensor::of).toList(),
        Map.of("format", "pt"));
  }

  /**
   * Reads both files, into memory of its own.
   *
   * @throws IOException if the files cannot be read, or hold other adapters than plain LoRA
   */
  public static Adapter read(Path folder) throws IOException {
    JsonNode config = JSON.readTree(Files.readAllBytes(folder.resolve(CONFIG)));
    checkPlain(folder.resolve(CONFIG), config);
    int rank = config.path("r").asInt(0);
    double alpha = config.path("lora_alpha").asDouble(0);
    if (rank < 1 || !(alpha > 0)) {
      throw new IOException(
          "%s: r is %d and lora_alpha %s, and both are greater than 0"
              .formatted(folder.resolve(CONFIG), rank, alpha));
    }
    List<String> targets = new ArrayList<>();
    config.path("target_modules").forEach(target -> targets.add(target.asText()));
    List<WeightSnapshot.Tensor> tensors = new ArrayList<>();
    try (Arena file = Arena.ofConfined()) {
      Map<String, StoredTensor> stored =
          new TreeMap<>(SafetensorsFile.map(folder.resolve(MODEL), file).tensors());
      for (StoredTensor tensor : stored.values()) {
        tensors.add(tensor.loaded());
      }
    }
    return new Adapter(rank, alpha, targets, tensors);
  }

  private static void checkPlain(Path file, JsonNode config) throws IOException {
    for (Map.Entry<String, String> plain : REQUIRED_VALUES.entrySet()) {
      String found = config.path(plain.getKey()).asText(plain.getValue());
      if (!found.equals(plain.getValue())) {
        throw new IOException(
            "%s: %s is %s, and adapters are read with %s alone"
                .formatted(file, plain.getKey(), found, plain.getValue()));
      }
    }
    for (String key : REQUIRED_EMPTY) {
      JsonNode found = config.path(key);
      if (!found.isNull() && (found.isValueNode() || !found.isEmpty())) {
        throw new IOException(
            "%s: %s is %s, and adapters are read without it".formatted(file, key, found));
      }
    }
    String beginning = config.path("init_lora_weights").asText("true");
    if (!INITIALISATIONS.contains(beginning)) {
      throw new IOException(
          "%s: init_lora_weights is %s, whose adapters lie over a base that it changed; save them with PEFT's path_initial_model_for_weight_conversion"
              .formatted(file, beginning));
    }
  }

  /** Returns the content of {@code adapter_config.json}. */
  public static ObjectNode config(Adapter adapter, String base, String revision) {
    ObjectNode node = JSON.createObjectNode();
    node.put("base_model_name_or_path", base.isEmpty() ? null : base);
    node.put("bias", "none");
    node.put("fan_in_fan_out", false);
    node.put("inference_mode", true);
    node.put("init_lora_weights", true);
    node.put("lora_alpha", adapter.alpha());
    node.put("lora_dropout", 0.0);
    node.putNull("modules_to_save");
    node.put("peft_type", "LORA");
    node.put("r", adapter.rank());
    ArrayNode targets = node.putArray("target_modules");
    adapter.targets().stream().sorted().forEach(targets::add);
    node.put("revision", revision.isEmpty() ? null : revision);
    node.put("task_type", "CAUSAL_LM");
    node.put("use_rslora", false);
    return node;
  }
}
