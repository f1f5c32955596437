package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.engine.Tokenizer;
import io.troupe.engine.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A trainer's state as a directory: a Hugging Face checkpoint (model.safetensors, config.json), the
 * tokenizer (troupe_tokenizer.json), AdamW's moments under the prefixes {@code m.} and {@code v.}
 * (optimizer.safetensors, its metadata the step count) and, once frozen, the reference policy
 * (reference.safetensors).
 */
final class Checkpoint {
  private static final String MODEL = "model.safetensors";
  private static final String OPTIMIZER = "optimizer.safetensors";
  private static final String REFERENCE = "reference.safetensors";
  private static final String CONFIG = "config.json";
  private static final String TOKENIZER = "troupe_tokenizer.json";
  private static final String FIRST = "m.";
  private static final String SECOND = "v.";
  private static final String STEPS = "steps";
  private static final Map<String, String> FORMAT = Map.of("format", "pt");

  private Checkpoint() {}

  static void save(
      Path directory,
      DecoderSettings settings,
      Tokenizer tokenizer,
      Weights weights,
      AdamW optimizer,
      Reference reference)
      throws IOException {
    requireEmpty(directory);
    Safetensors.write(directory.resolve(MODEL), weights.views(), FORMAT);
    List<WeightSnapshot.Tensor> moments = new ArrayList<>();
    moments.addAll(prefixed(FIRST, optimizer.first()));
    moments.addAll(prefixed(SECOND, optimizer.second()));
    Safetensors.write(
        directory.resolve(OPTIMIZER),
        moments,
        Map.of("format", "pt", STEPS, Long.toString(optimizer.steps())));
    if (reference instanceof Reference.Frozen(var frozen)) {
      Safetensors.write(directory.resolve(REFERENCE), frozen.views(), FORMAT);
    }
    write(directory.resolve(CONFIG), CheckpointConfig.json(settings, tokenizer));
    write(directory.resolve(TOKENIZER), CheckpointTokenizer.json(tokenizer));
    force(directory);
  }

  /**
   * Reads a directory into weights and optimizer; everything is checked before anything is changed.
   *
   * @return the reference policy
   * @throws IOException if a file is missing, unreadable, or of another policy
   */
  static Reference restore(
      Path directory, Decoder decoder, Tokenizer tokenizer, Weights weights, AdamW optimizer)
      throws IOException {
    CheckpointConfig.check(directory.resolve(CONFIG), decoder.settings(), tokenizer);
    CheckpointTokenizer.check(directory.resolve(TOKENIZER), tokenizer);
    Path optimizerFile = directory.resolve(OPTIMIZER);
    Path referenceFile = directory.resolve(REFERENCE);
    try (Arena arena = Arena.ofConfined()) {
      Map<Weights, List<WeightSnapshot.Tensor>> sources = new LinkedHashMap<>();
      Path modelFile = directory.resolve(MODEL);
      Safetensors.Content model = Safetensors.map(modelFile, arena);
      sources.put(weights, match(modelFile, model, "", weights));
      requireNoMore(modelFile, model, weights.views().size());
      Safetensors.Content moments = Safetensors.map(optimizerFile, arena);
      sources.put(optimizer.first(), match(optimizerFile, moments, FIRST, optimizer.first()));
      sources.put(optimizer.second(), match(optimizerFile, moments, SECOND, optimizer.second()));
      requireNoMore(optimizerFile, moments, 2 * weights.views().size());
      long steps = steps(optimizerFile, moments);
      Reference reference = new Reference.None();
      if (Files.exists(referenceFile)) {
        Safetensors.Content frozen = Safetensors.map(referenceFile, arena);
        List<WeightSnapshot.Tensor> source = match(referenceFile, frozen, "", weights);
        requireNoMore(referenceFile, frozen, weights.views().size());
        Weights copy = Weights.zeros(decoder.layout());
        sources.put(copy, source);
        reference = new Reference.Frozen(copy);
      }
      sources.forEach(Checkpoint::copy);
      optimizer.restoreSteps(steps);
      return reference;
    }
  }

  private static List<WeightSnapshot.Tensor> prefixed(String prefix, Weights weights) {
    return weights.views().stream()
        .map(t -> new WeightSnapshot.Tensor(prefix + t.name(), t.shape(), t.data()))
        .toList();
  }

  /** The file's tensors for {@code target}, in the order of its views. */
  private static List<WeightSnapshot.Tensor> match(
      Path file, Safetensors.Content content, String prefix, Weights target) throws IOException {
    List<WeightSnapshot.Tensor> matched = new ArrayList<>();
    for (WeightSnapshot.Tensor view : target.views()) {
      WeightSnapshot.Tensor tensor = content.tensors().get(prefix + view.name());
      if (tensor == null) {
        throw new IOException("%s lacks the tensor %s".formatted(file, prefix + view.name()));
      }
      if (!tensor.shape().equals(view.shape())) {
        throw new IOException(
            "%s: %s has shape %s, but this run's policy has %s"
                .formatted(file, tensor.name(), tensor.shape(), view.shape()));
      }
      matched.add(tensor);
    }
    return matched;
  }

  private static void requireNoMore(Path file, Safetensors.Content content, int expected)
      throws IOException {
    if (content.tensors().size() != expected) {
      throw new IOException(
          "%s holds %d tensors, but this run's policy has %d"
              .formatted(file, content.tensors().size(), expected));
    }
  }

  private static long steps(Path file, Safetensors.Content content) throws IOException {
    String text = content.metadata().getOrDefault(STEPS, "");
    try {
      return Long.parseUnsignedLong(text);
    } catch (NumberFormatException failure) {
      throw new IOException(
          "%s: its metadata has '%s' as %s, which is no count".formatted(file, text, STEPS),
          failure);
    }
  }

  private static void copy(Weights target, List<WeightSnapshot.Tensor> source) {
    List<WeightSnapshot.Tensor> views = target.views();
    for (int i = 0; i < views.size(); i++) {
      views.get(i).data().copyFrom(source.get(i).data());
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

  private static void write(Path file, byte[] content) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
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
