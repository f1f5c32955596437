package io.troupe.engine.safetensors;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.Adapter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Adapters in the layout of Hugging Face's PEFT: {@code adapter_config.json} and {@code
 * adapter_model.safetensors}.
 */
public final class PeftFolder {
  public static final String CONFIG = "adapter_config.json";
  public static final String MODEL = "adapter_model.safetensors";

  private static final ObjectMapper JSON = new ObjectMapper();

  private PeftFolder() {}

  /** Writes both files into a directory that exists. */
  public static void write(Path folder, Adapter adapter) throws IOException {
    Files.write(
        folder.resolve(CONFIG),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(config(adapter)));
    SafetensorsFile.write(
        folder.resolve(MODEL),
        adapter.tensors().stream().map(StoredTensor::of).toList(),
        Map.of("format", "pt"));
  }

  /** What {@code adapter_config.json} says of adapters. */
  public static ObjectNode config(Adapter adapter) {
    ObjectNode node = JSON.createObjectNode();
    node.putNull("base_model_name_or_path");
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
    node.put("task_type", "CAUSAL_LM");
    node.put("use_rslora", false);
    return node;
  }
}
