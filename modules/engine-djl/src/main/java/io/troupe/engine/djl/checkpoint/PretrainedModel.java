package io.troupe.engine.djl.checkpoint;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.safetensors.ModelFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * A checkpoint that a policy starts from, of Hugging Face's layout or of a run: a directory whose
 * architecture, tensors and tokenizer were checked, and whose weights were not read yet.
 *
 * @param settings of its decoder; the context length may have been lowered
 * @param tokenizer of its ids
 */
public record PretrainedModel(
    Path directory, DecoderSettings settings, Tokenizer tokenizer, ModelDescription card) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Opens and checks a checkpoint.
   *
   * @throws IOException if a file is missing, is damaged, or describes an unsupported model; the
   *     message names file, tensor or key, and rule
   */
  public static PretrainedModel open(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new IOException("the checkpoint %s is no directory".formatted(directory));
    }
    PretrainedModel model = described(directory);
    try (Arena arena = Arena.ofConfined()) {
      ModelFiles files = ModelFiles.map(directory, arena);
      new CheckpointTensors(files.source(), files.tensors())
          .check(
              DecoderLayout.of(model.settings, model.tokenizer.vocabularySize()),
              CheckpointTensors.Authority.CONFIGURATION,
              List.of(""));
    }
    return model;
  }

  /**
   * Opens a checkpoint whose weights may be missing, to plan for it: nothing can be read of it but
   * its shapes and its tokenizer.
   *
   * @throws IOException as {@link #open} does
   */
  public static PretrainedModel described(Path directory) throws IOException {
    ModelConfig config = ModelConfig.read(directory.resolve("config.json"));
    Tokenizer tokenizer =
        ModelDescription.hasCharacters(directory)
            ? ModelDescription.characters(directory)
            : PretrainedTokenizer.read(directory, config.vocabulary(), endIds(directory, config));
    return new PretrainedModel(
        directory, config.settings(), tokenizer, ModelDescription.of(directory, config));
  }

  /** Returns the number of weights. */
  public long parameters() {
    return DecoderLayout.of(settings, tokenizer.vocabularySize()).size();
  }

  /**
   * Returns the checkpoint with a shorter context: fewer rotary positions, and less memory.
   *
   * @throws IllegalArgumentException if the length exceeds the checkpoint's
   */
  public PretrainedModel withContextLength(int length) {
    require(
        length <= settings.contextLength(),
        "context_length (%d) exceeds the checkpoint's max_position_embeddings (%d)",
        length,
        settings.contextLength());
    return new PretrainedModel(directory, settings.withContextLength(length), tokenizer, card);
  }

  /** Returns the checkpoint under the name that other programs know it by. */
  public PretrainedModel named(BaseModelName name) {
    return new PretrainedModel(directory, settings, tokenizer, card.of(name));
  }

  /** Returns what a user should know of the checkpoint, a sentence each. */
  public List<String> notes() {
    return tokenizer instanceof PretrainedTokenizer read ? read.notes() : List.of();
  }

  /** Reads the weights, converted to float32. */
  ModelWeights weights(FlatLayout layout, Device device) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      ModelFiles files = ModelFiles.map(directory, arena);
      CheckpointTensors stored = new CheckpointTensors(files.source(), files.tensors());
      stored.check(layout.tensors(), CheckpointTensors.Authority.CONFIGURATION, List.of(""));
      ModelWeights weights = ModelWeights.zeros(layout, device);
      stored.copy("", weights);
      return weights;
    }
  }

  /**
   * Returns the ids that end a completion: those of generation_config.json, or of config.json where
   * generation_config.json names none.
   */
  private static List<Integer> endIds(Path directory, ModelConfig config) throws IOException {
    List<Integer> ids = new ArrayList<>();
    Path generation = directory.resolve("generation_config.json");
    if (Files.exists(generation)) {
      try {
        JsonNode node = JSON.readTree(Files.readAllBytes(generation));
        ids.addAll(ModelConfig.ids(node.path("eos_token_id")));
      } catch (JsonProcessingException failure) {
        throw new IOException("%s is not JSON".formatted(generation), failure);
      }
    }
    if (ids.isEmpty()) {
      ids.addAll(config.endIds());
    }
    return List.copyOf(new LinkedHashSet<>(ids));
  }
}
