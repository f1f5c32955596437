package io.troupe.engine.djl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Adapters in the layout of Hugging Face's PEFT: {@code adapter/adapter_config.json} and {@code
 * adapter/adapter_model.safetensors}.
 */
final class AdapterFiles {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FOLDER = "adapter";
  private static final String CONFIG = "adapter_config.json";
  private static final String MODEL = "adapter_model.safetensors";
  private static final List<String> SAME =
      List.of("peft_type", "r", "lora_alpha", "target_modules");

  private AdapterFiles() {}

  static void write(Path directory, Tuning.LowRank settings, List<StoredTensor> tensors)
      throws IOException {
    Path folder = Files.createDirectory(directory.resolve(FOLDER));
    Files.write(
        folder.resolve(CONFIG),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(config(settings)));
    SafetensorsFile.write(folder.resolve(MODEL), tensors, Map.of("format", "pt"));
  }

  /** The file with the adapters' tensors. */
  static Path model(Path directory) {
    return directory.resolve(FOLDER).resolve(MODEL);
  }

  /**
   * Compares the adapters of a checkpoint with this run's.
   *
   * @throws IOException if there are none, or others; the message names the key and both values
   */
  static void check(Path directory, Tuning.LowRank settings) throws IOException {
    Path file = directory.resolve(FOLDER).resolve(CONFIG);
    if (!Files.exists(file)) {
      throw new IOException(
          "%s is missing: the checkpoint was saved by a run without adapters".formatted(file));
    }
    JsonNode found = JSON.readTree(Files.readAllBytes(file));
    // Through text, so that a number read and a number made are of the same class.
    JsonNode expected = JSON.readTree(JSON.writeValueAsBytes(config(settings)));
    for (String key : SAME) {
      if (!expected.path(key).equals(found.path(key))) {
        throw new IOException(
            "%s: %s is %s, but this run's adapters have %s"
                .formatted(file, key, found.path(key), expected.path(key)));
      }
    }
  }

  private static ObjectNode config(Tuning.LowRank settings) {
    ObjectNode node = JSON.createObjectNode();
    node.putNull("base_model_name_or_path");
    node.put("bias", "none");
    node.put("fan_in_fan_out", false);
    node.put("inference_mode", true);
    node.put("init_lora_weights", true);
    node.put("lora_alpha", settings.alpha());
    node.put("lora_dropout", 0.0);
    node.putNull("modules_to_save");
    node.put("peft_type", "LORA");
    node.put("r", settings.rank());
    ArrayNode targets = node.putArray("target_modules");
    settings.targets().stream().map(Tuning.Target::leaf).sorted().forEach(targets::add);
    node.put("task_type", "CAUSAL_LM");
    node.put("use_rslora", false);
    return node;
  }
}
