package io.troupe.engine.djl.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.weights.Adapter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The adapters of a checkpoint: the folder {@code adapter} in it, in the layout of Hugging Face's
 * PEFT.
 */
final class AdapterFiles {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FOLDER = "adapter";
  private static final List<String> SAME =
      List.of("peft_type", "r", "lora_alpha", "target_modules");

  private AdapterFiles() {}

  /** Writes adapters over the model of an origin. */
  static void write(Path directory, Adapter adapter, BaseModelName origin) throws IOException {
    PeftFolder.write(
        Files.createDirectory(directory.resolve(FOLDER)),
        adapter,
        origin.name(),
        origin.revision());
  }

  /** The file with the adapters' tensors. */
  static Path model(Path directory) {
    return directory.resolve(FOLDER).resolve(PeftFolder.MODEL);
  }

  /**
   * Compares the adapters of a checkpoint with this run's.
   *
   * @throws IOException if there are no adapters, or other adapters; the message names the key and
   *     both values
   */
  static void check(Path directory, Tuning.LowRank settings) throws IOException {
    Path file = directory.resolve(FOLDER).resolve(PeftFolder.CONFIG);
    if (!Files.exists(file)) {
      throw new IOException(
          "%s is missing: the checkpoint was saved by a run without adapters".formatted(file));
    }
    JsonNode found = JSON.readTree(Files.readAllBytes(file));
    // Through text, so that read and computed numbers have the same class.
    JsonNode expected =
        JSON.readTree(
            JSON.writeValueAsBytes(PeftFolder.config(settings.adapter(List.of()), "", "")));
    for (String key : SAME) {
      if (!expected.path(key).equals(found.path(key))) {
        throw new IOException(
            "%s: %s is %s, but this run's adapters have %s"
                .formatted(file, key, found.path(key), expected.path(key)));
      }
    }
  }
}
