package io.troupe.engine.djl.checkpoint;

import static io.troupe.core.Require.require;

import io.troupe.base.files.DurableFiles;
import io.troupe.engine.djl.model.AdamW;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.LowRankAdapters;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.ReferenceWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A trainer's state as a directory: a Hugging Face checkpoint (model.safetensors or its shards,
 * config.json, the tokenizer's files: {@link ModelDescription}) and, in the folder {@code trainer},
 * AdamW's moments under the prefixes {@code m.} and {@code v.} (optimizer.safetensors, its metadata
 * the step count) and, once frozen, the reference policy (reference.safetensors). They have a
 * folder of their own because vLLM takes each *.safetensors beside a model without an index for a
 * part of it.
 *
 * <p>With adapters the model is the merged one, the frozen weights are beside the optimizer
 * (base.safetensors), and the adapters are in PEFT's layout (the folder {@code adapter}); the
 * moments are those of the adapters.
 */
public final class TrainerCheckpoint {
  /** The folder of what only a training that continues needs. */
  public static final String TRAINER = "trainer";

  private static final String OPTIMIZER = "trainer/optimizer.safetensors";
  private static final String REFERENCE = "trainer/reference.safetensors";
  private static final String BASE = "trainer/base.safetensors";
  private static final String WEIGHTS = "weights.safetensors";

  /** Before the name of a first moment. */
  public static final String FIRST = "m.";

  /** Before the name of a second moment. */
  public static final String SECOND = "v.";

  private static final String STEPS = "steps";
  private static final String REFERENCE_IS = "reference";
  private static final String IS_BASE = "base";
  private static final Map<String, String> FORMAT = Map.of("format", "pt");

  private TrainerCheckpoint() {}

  public static void save(
      Path directory,
      ModelDescription card,
      long shardBytes,
      Decoder decoder,
      TrainableWeights trained,
      AdamW optimizer,
      ReferenceWeights reference)
      throws IOException {
    begin(directory);
    switch (trained) {
      case TrainableWeights.Whole(ModelWeights weights, var _) ->
          ModelFiles.write(directory, stored("", weights), shardBytes);
      case TrainableWeights.Adapted adapted ->
          writeAdapted(directory, card, shardBytes, decoder, adapted);
    }
    List<StoredTensor> moments = new ArrayList<>();
    moments.addAll(stored(FIRST, optimizer.first()));
    moments.addAll(stored(SECOND, optimizer.second()));
    SafetensorsFile.write(
        directory.resolve(OPTIMIZER), moments, metadata(optimizer.steps(), reference));
    writeRest(directory, card, reference);
  }

  private static void writeAdapted(
      Path directory,
      ModelDescription card,
      long shardBytes,
      Decoder decoder,
      TrainableWeights.Adapted adapted)
      throws IOException {
    LowRankAdapters adapters = adapted.adapters();
    ModelFiles.write(
        directory,
        adapters.mergedCopies(decoder, adapted.base()).stream().map(StoredTensor::of).toList(),
        shardBytes);
    SafetensorsFile.write(directory.resolve(BASE), stored("", adapted.base()), FORMAT);
    AdapterFiles.write(
        directory, adapters.settings().adapter(adapters.weights().views()), card.origin());
  }

  private static void writeRest(Path directory, ModelDescription card, ReferenceWeights reference)
      throws IOException {
    if (reference instanceof ReferenceWeights.Frozen(var frozen)) {
      SafetensorsFile.write(directory.resolve(REFERENCE), stored("", frozen), FORMAT);
    }
    card.write(directory);
    DurableFiles.syncFolder(directory.resolve(TRAINER));
    DurableFiles.syncFolder(directory);
  }

  /**
   * Writes what a trainer has whose ranks hold the trained weights and the moments. Their tensors
   * are holes that the ranks write their pieces into; adapters, which are small, are written.
   *
   * @param trained adapters as the ranks have them now; other weights are not read
   * @param steps number of steps taken
   * @return the files with holes
   */
  public static StateFiles create(
      Path directory,
      ModelDescription card,
      long shardBytes,
      Decoder decoder,
      TrainableWeights trained,
      long steps,
      ReferenceWeights reference)
      throws IOException {
    begin(directory);
    List<String> names = new ArrayList<>();
    List<StatePart> parts = new ArrayList<>();
    switch (trained) {
      case TrainableWeights.Whole(ModelWeights weights, var _) -> {
        names.addAll(ModelFiles.create(directory, declared("", weights.layout()), shardBytes));
        parts.add(StatePart.WEIGHTS);
      }
      case TrainableWeights.Adapted adapted ->
          writeAdapted(directory, card, shardBytes, decoder, adapted);
    }
    List<Declared> moments = new ArrayList<>();
    moments.addAll(declared(FIRST, trained.trainable().layout()));
    moments.addAll(declared(SECOND, trained.trainable().layout()));
    SafetensorsFile.create(directory.resolve(OPTIMIZER), moments, metadata(steps, reference));
    names.add(OPTIMIZER);
    parts.add(StatePart.MOMENTS);
    writeRest(directory, card, reference);
    return new StateFiles(directory, names, parts, true);
  }

  /**
   * Makes a file of the trained tensors alone, which are holes, in the type that passes compute
   * with.
   */
  public static StateFiles createWeights(Path directory, Decoder decoder, TrainableWeights trained)
      throws IOException {
    DType type = trained.computedWith(decoder);
    SafetensorsFile.create(
        directory.resolve(WEIGHTS), declared("", type, trained.trainable().layout()), FORMAT);
    StatePart part = type == DType.BF16 ? StatePart.BFLOAT16_WEIGHTS : StatePart.WEIGHTS;
    return new StateFiles(directory, List.of(WEIGHTS), List.of(part), false);
  }

  /** Reads what ranks have written into such a file. */
  public static void readWeights(Path directory, Decoder decoder, TrainableWeights trained)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      map(directory.resolve(WEIGHTS), arena).copy("", trained.trainable());
    }
    trained.moved(decoder);
  }

  private static List<Declared> declared(String prefix, DecoderLayout layout) {
    return declared(prefix, DType.F32, layout);
  }

  /** In the order of names, as {@link ModelWeights#views}. */
  private static List<Declared> declared(String prefix, DType type, DecoderLayout layout) {
    return layout.parameters().stream()
        .map(parameter -> new Declared(prefix + parameter.name(), type, parameter.shape()))
        .sorted(Comparator.comparing(Declared::name))
        .toList();
  }

  /**
   * Reads a directory into weights and optimizer; all files are checked before any weight changes.
   *
   * @return the reference policy
   * @throws IOException if a file is missing, unreadable, or of another policy
   */
  public static ReferenceWeights restore(
      Path directory,
      ModelDescription card,
      Decoder decoder,
      TrainableWeights trained,
      AdamW optimizer)
      throws IOException {
    return restore(
        directory,
        card,
        decoder,
        trained,
        (first, second, steps) -> {
          first.copyTo(optimizer.first());
          second.copyTo(optimizer.second());
          optimizer.restoreSteps(steps);
        });
  }

  /** Takes the moments of a checkpoint, all of them or a piece. */
  @FunctionalInterface
  public interface MomentsTarget {
    /**
     * Copies what it needs.
     *
     * @param steps number of steps taken
     */
    void take(StoredMoments first, StoredMoments second, long steps);
  }

  /** One of AdamW's two moments in a file; valid during the call that hands it over. */
  public static final class StoredMoments {
    private final CheckpointTensors tensors;
    private final String prefix;

    private StoredMoments(CheckpointTensors tensors, String prefix) {
      this.tensors = tensors;
      this.prefix = prefix;
    }

    void copyTo(ModelWeights whole) {
      tensors.copy(prefix, whole);
    }

    /**
     * Copies the elements of a range of the flat array, and no others.
     *
     * @param from the first element of the range
     * @param piece float32, as long as the range
     * @param elements of the range
     */
    public void copyTo(FlatLayout layout, long from, NativeTensor piece, long elements) {
      tensors.copy(prefix, layout, from, piece, elements);
    }
  }

  /** Does the same with moments that may go elsewhere than into one optimizer. */
  public static ReferenceWeights restore(
      Path directory,
      ModelDescription card,
      Decoder decoder,
      TrainableWeights trained,
      MomentsTarget optimizer)
      throws IOException {
    card.check(directory);
    Path optimizerFile = directory.resolve(OPTIMIZER);
    DecoderLayout moved = trained.trainable().layout();
    try (Arena arena = Arena.ofConfined()) {
      Map<ModelWeights, CheckpointTensors> sources = sources(directory, trained, arena);
      for (Map.Entry<ModelWeights, CheckpointTensors> source : sources.entrySet()) {
        source
            .getValue()
            .check(source.getKey().layout(), CheckpointTensors.Authority.RUN, List.of(""));
      }
      SafetensorsFile file = SafetensorsFile.map(optimizerFile, arena);
      CheckpointTensors moments = new CheckpointTensors(optimizerFile, file.tensors());
      moments.check(moved, CheckpointTensors.Authority.RUN, List.of(FIRST, SECOND));
      long steps = steps(optimizerFile, file);
      ReferenceWeights reference = reference(directory, file, decoder, trained, arena);
      sources.forEach((target, source) -> source.copy("", target));
      optimizer.take(new StoredMoments(moments, FIRST), new StoredMoments(moments, SECOND), steps);
      trained.moved(decoder);
      return reference;
    }
  }

  /** Returns the files of the weights; the merged model of adapters is not read. */
  private static Map<ModelWeights, CheckpointTensors> sources(
      Path directory, TrainableWeights trained, Arena arena) throws IOException {
    Map<ModelWeights, CheckpointTensors> sources = new LinkedHashMap<>();
    switch (trained) {
      case TrainableWeights.Whole(ModelWeights weights, var _) -> {
        requireNoAdapter(directory);
        ModelFiles model = ModelFiles.map(directory, arena);
        sources.put(weights, new CheckpointTensors(model.source(), model.tensors()));
      }
      case TrainableWeights.Adapted(ModelWeights base, LowRankAdapters adapters) -> {
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

  private static CheckpointTensors map(Path file, Arena arena) throws IOException {
    return new CheckpointTensors(file, SafetensorsFile.map(file, arena).tensors());
  }

  private static ReferenceWeights reference(
      Path directory,
      SafetensorsFile optimizer,
      Decoder decoder,
      TrainableWeights trained,
      Arena arena)
      throws IOException {
    Path file = directory.resolve(REFERENCE);
    if (Files.exists(file)) {
      CheckpointTensors frozen = map(file, arena);
      frozen.check(trained.whole().layout(), CheckpointTensors.Authority.RUN, List.of(""));
      ModelWeights copy = trained.whole().copyFor(decoder);
      frozen.copy("", copy);
      return new ReferenceWeights.Frozen(copy);
    }
    return optimizer.metadata().getOrDefault(REFERENCE_IS, "").equals(IS_BASE)
        ? new ReferenceWeights.Base(trained.whole())
        : new ReferenceWeights.None();
  }

  private static Map<String, String> metadata(long steps, ReferenceWeights reference) {
    Map<String, String> metadata = new TreeMap<>(FORMAT);
    metadata.put(STEPS, Long.toString(steps));
    if (reference instanceof ReferenceWeights.Base) {
      metadata.put(REFERENCE_IS, IS_BASE);
    }
    return metadata;
  }

  private static List<StoredTensor> stored(String prefix, ModelWeights weights) {
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

  private static void begin(Path directory) throws IOException {
    require(Files.isDirectory(directory), "%s is no directory to save into", directory);
    try (Stream<Path> entries = Files.list(directory)) {
      require(
          entries.findAny().isEmpty(),
          "%s is not empty; a checkpoint needs an empty directory",
          directory);
    }
    Files.createDirectory(directory.resolve(TRAINER));
  }
}
