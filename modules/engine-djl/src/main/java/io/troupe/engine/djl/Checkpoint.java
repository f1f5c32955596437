package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A trainer's state as a directory: a Hugging Face checkpoint (model.safetensors or its shards,
 * config.json, the tokenizer's files: {@link CheckpointCard}), AdamW's moments under the prefixes
 * {@code m.} and {@code v.} (optimizer.safetensors, its metadata the step count) and, once frozen,
 * the reference policy (reference.safetensors).
 */
final class Checkpoint {
  private static final String OPTIMIZER = "optimizer.safetensors";
  private static final String REFERENCE = "reference.safetensors";
  private static final String FIRST = "m.";
  private static final String SECOND = "v.";
  private static final String STEPS = "steps";
  private static final Map<String, String> FORMAT = Map.of("format", "pt");

  private Checkpoint() {}

  static void save(
      Path directory,
      CheckpointCard card,
      long shardBytes,
      Weights weights,
      AdamW optimizer,
      Reference reference)
      throws IOException {
    requireEmpty(directory);
    ModelFiles.write(directory, stored("", weights), shardBytes);
    List<StoredTensor> moments = new ArrayList<>();
    moments.addAll(stored(FIRST, optimizer.first()));
    moments.addAll(stored(SECOND, optimizer.second()));
    SafetensorsFile.write(
        directory.resolve(OPTIMIZER),
        moments,
        Map.of("format", "pt", STEPS, Long.toString(optimizer.steps())));
    if (reference instanceof Reference.Frozen(var frozen)) {
      SafetensorsFile.write(directory.resolve(REFERENCE), stored("", frozen), FORMAT);
    }
    card.write(directory);
    force(directory);
  }

  /**
   * Reads a directory into weights and optimizer; everything is checked before anything is changed.
   *
   * @return the reference policy
   * @throws IOException if a file is missing, unreadable, or of another policy
   */
  static Reference restore(Path directory, CheckpointCard card, Weights weights, AdamW optimizer)
      throws IOException {
    card.check(directory);
    Path optimizerFile = directory.resolve(OPTIMIZER);
    Path referenceFile = directory.resolve(REFERENCE);
    try (Arena arena = Arena.ofConfined()) {
      ModelFiles model = ModelFiles.map(directory, arena);
      StoredWeights stored = new StoredWeights(model.source(), model.tensors());
      stored.check(weights.layout(), "", 1);
      SafetensorsFile file = SafetensorsFile.map(optimizerFile, arena);
      StoredWeights moments = new StoredWeights(optimizerFile, file.tensors());
      moments.check(weights.layout(), FIRST, 2);
      moments.check(weights.layout(), SECOND, 2);
      long steps = steps(optimizerFile, file);
      Reference reference = new Reference.None();
      if (Files.exists(referenceFile)) {
        StoredWeights frozen =
            new StoredWeights(referenceFile, SafetensorsFile.map(referenceFile, arena).tensors());
        frozen.check(weights.layout(), "", 1);
        Weights copy = Weights.zeros(weights.layout());
        frozen.copy("", copy);
        reference = new Reference.Frozen(copy);
      }
      stored.copy("", weights);
      moments.copy(FIRST, optimizer.first());
      moments.copy(SECOND, optimizer.second());
      optimizer.restoreSteps(steps);
      return reference;
    }
  }

  private static List<StoredTensor> stored(String prefix, Weights weights) {
    return weights.views().stream()
        .map(tensor -> StoredTensor.of(tensor).named(prefix + tensor.name()))
        .toList();
  }

  private static long steps(Path file, SafetensorsFile content) throws IOException {
    String text = content.metadata().getOrDefault(STEPS, "");
    try {
      return Long.parseUnsignedLong(text);
    } catch (NumberFormatException failure) {
      throw new IOException(
          "%s: its metadata has '%s' as %s, which is no count".formatted(file, text, STEPS),
          failure);
    }
  }

  private static void requireEmpty(Path directory) throws IOException {
    require(Files.isDirectory(directory), "%s is no directory to save into", directory);
    try (Stream<Path> entries = Files.list(directory)) {
      require(
          entries.findAny().isEmpty(),
          "%s is not empty; a checkpoint needs an empty directory",
          directory);
    }
  }

  /** Makes the directory's entries durable; some systems cannot open a directory, and need not. */
  private static void force(Path directory) throws IOException {
    if (!System.getProperty("os.name").startsWith("Windows")) {
      try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }
}
