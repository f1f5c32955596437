package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.base.files.Durable;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A trainer's state as a directory: a Hugging Face checkpoint (model.safetensors or its shards,
 * config.json, the tokenizer's files: {@link CheckpointCard}), AdamW's moments under the prefixes
 * {@code m.} and {@code v.} (optimizer.safetensors, its metadata the step count) and, once frozen,
 * the reference policy (reference.safetensors).
 *
 * <p>With adapters the model is the merged one, and beside it are the frozen weights
 * (base.safetensors) and the adapters in PEFT's layout (the folder {@code adapter}); the moments
 * are those of the adapters.
 */
final class Checkpoint {
  private static final String OPTIMIZER = "optimizer.safetensors";
  private static final String REFERENCE = "reference.safetensors";
  private static final String BASE = "base.safetensors";
  private static final String FIRST = "m.";
  private static final String SECOND = "v.";
  private static final String STEPS = "steps";
  private static final String REFERENCE_IS = "reference";
  private static final String IS_BASE = "base";
  private static final Map<String, String> FORMAT = Map.of("format", "pt");

  private Checkpoint() {}

  static void save(
      Path directory,
      CheckpointCard card,
      long shardBytes,
      Decoder decoder,
      Trained trained,
      AdamW optimizer,
      Reference reference)
      throws IOException {
    requireEmpty(directory);
    switch (trained) {
      case Trained.Whole(Weights weights) ->
          ModelFiles.write(directory, stored("", weights), shardBytes);
      case Trained.Adapted(Weights base, Adapters adapters) -> {
        try (Weights merged = adapters.merged(decoder, base)) {
          ModelFiles.write(directory, stored("", merged), shardBytes);
        }
        SafetensorsFile.write(directory.resolve(BASE), stored("", base), FORMAT);
        AdapterFiles.write(directory, adapters.settings().adapter(adapters.weights().views()));
      }
    }
    List<StoredTensor> moments = new ArrayList<>();
    moments.addAll(stored(FIRST, optimizer.first()));
    moments.addAll(stored(SECOND, optimizer.second()));
    SafetensorsFile.write(directory.resolve(OPTIMIZER), moments, metadata(optimizer, reference));
    if (reference instanceof Reference.Frozen(var frozen)) {
      SafetensorsFile.write(directory.resolve(REFERENCE), stored("", frozen), FORMAT);
    }
    card.write(directory);
    Durable.syncFolder(directory);
  }

  /**
   * Reads a directory into weights and optimizer; everything is checked before anything is changed.
   *
   * @return the reference policy
   * @throws IOException if a file is missing, unreadable, or of another policy
   */
  static Reference restore(Path directory, CheckpointCard card, Trained trained, AdamW optimizer)
      throws IOException {
    card.check(directory);
    Path optimizerFile = directory.resolve(OPTIMIZER);
    DecoderLayout moved = trained.moved().layout();
    try (Arena arena = Arena.ofConfined()) {
      Map<Weights, StoredWeights> sources = sources(directory, trained, arena);
      for (Map.Entry<Weights, StoredWeights> source : sources.entrySet()) {
        source.getValue().check(source.getKey().layout(), "", 1);
      }
      SafetensorsFile file = SafetensorsFile.map(optimizerFile, arena);
      StoredWeights moments = new StoredWeights(optimizerFile, file.tensors());
      moments.check(moved, FIRST, 2);
      moments.check(moved, SECOND, 2);
      long steps = steps(optimizerFile, file);
      Reference reference = reference(directory, file, trained, arena);
      sources.forEach((target, source) -> source.copy("", target));
      moments.copy(FIRST, optimizer.first());
      moments.copy(SECOND, optimizer.second());
      optimizer.restoreSteps(steps);
      return reference;
    }
  }

  /** Where the weights come from; the merged model of adapters is not read. */
  private static Map<Weights, StoredWeights> sources(Path directory, Trained trained, Arena arena)
      throws IOException {
    Map<Weights, StoredWeights> sources = new LinkedHashMap<>();
    switch (trained) {
      case Trained.Whole(Weights weights) -> {
        requireNoAdapter(directory);
        ModelFiles model = ModelFiles.map(directory, arena);
        sources.put(weights, new StoredWeights(model.source(), model.tensors()));
      }
      case Trained.Adapted(Weights base, Adapters adapters) -> {
        AdapterFiles.check(directory, adapters.settings());
        sources.put(base, map(directory.resolve(BASE), arena));
        sources.put(adapters.weights(), map(AdapterFiles.model(directory), arena));
      }
    }
    return sources;
  }

  private static void requireNoAdapter(Path directory) throws IOException {
    if (Files.exists(AdapterFiles.model(directory))) {
      throw new IOException(
          "%s was saved by a run that trains adapters, and this one trains all weights; set"
                  .formatted(directory)
              + " policy.lora as it was, or start from its merged model");
    }
  }

  private static StoredWeights map(Path file, Arena arena) throws IOException {
    return new StoredWeights(file, SafetensorsFile.map(file, arena).tensors());
  }

  private static Reference reference(
      Path directory, SafetensorsFile optimizer, Trained trained, Arena arena) throws IOException {
    Path file = directory.resolve(REFERENCE);
    if (Files.exists(file)) {
      StoredWeights frozen = map(file, arena);
      Weights copy = Weights.zeros(trained.whole().layout(), trained.whole().device());
      frozen.check(copy.layout(), "", 1);
      frozen.copy("", copy);
      return new Reference.Frozen(copy);
    }
    return optimizer.metadata().getOrDefault(REFERENCE_IS, "").equals(IS_BASE)
        ? new Reference.Base(trained.whole())
        : new Reference.None();
  }

  private static Map<String, String> metadata(AdamW optimizer, Reference reference) {
    Map<String, String> metadata = new TreeMap<>(FORMAT);
    metadata.put(STEPS, Long.toString(optimizer.steps()));
    if (reference instanceof Reference.Base) {
      metadata.put(REFERENCE_IS, IS_BASE);
    }
    return metadata;
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
}
