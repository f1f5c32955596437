package io.troupe.engine.safetensors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Tensors of a model's files that only repeat what config.json says: tables of rotary positions,
 * and the output matrix of tied embeddings where it equals the embedding. They are no weights, and
 * every reader passes over them.
 */
final class RedundantTensors {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CONFIG = "config.json";
  private static final String TIED = "tie_word_embeddings";
  private static final String OUTPUT = "lm_head.weight";
  private static final String EMBEDDING = "model.embed_tokens.weight";
  private static final Pattern ROTARY_TABLE =
      Pattern.compile(".*\\.rotary_emb\\.(original_)?(inv_freq|cos_cached|sin_cached)");
  private static final long PIECE = 1 << 20;

  private RedundantTensors() {}

  /**
   * Returns the tensors that are weights.
   *
   * @param source the file that messages name
   * @param directory of the files, with config.json or without
   * @throws IOException if the embeddings are tied, and the output matrix has other values
   */
  static Map<String, StoredTensor> leftOut(
      Path source, Path directory, Map<String, StoredTensor> tensors) throws IOException {
    Map<String, StoredTensor> weights = new TreeMap<>(tensors);
    weights.keySet().removeIf(name -> ROTARY_TABLE.matcher(name).matches());
    Optional<StoredTensor> output = Optional.ofNullable(weights.get(OUTPUT));
    Optional<StoredTensor> embedding = Optional.ofNullable(weights.get(EMBEDDING));
    if (output.isPresent() && embedding.isPresent() && tied(directory.resolve(CONFIG))) {
      if (!equal(output.get(), embedding.get())) {
        throw new IOException(
            "%s holds %s with other values than %s, and %s has %s true, so that one of the two would have no effect; set %s to false to compute with %s, or remove that tensor to compute with the embedding"
                .formatted(
                    source, OUTPUT, EMBEDDING, directory.resolve(CONFIG), TIED, TIED, OUTPUT));
      }
      weights.remove(OUTPUT);
    }
    return weights;
  }

  private static boolean tied(Path config) throws IOException {
    if (!Files.exists(config)) {
      return false;
    }
    try {
      JsonNode tied = JSON.readTree(Files.readAllBytes(config)).path(TIED);
      return tied.asBoolean(false);
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(config), failure);
    }
  }

  /** Whether two tensors have the same numbers, in whichever types. */
  private static boolean equal(StoredTensor one, StoredTensor other) {
    if (!one.shape().equals(other.shape())) {
      return false;
    }
    if (one.dtype() == other.dtype() && one.data().mismatch(other.data()) < 0) {
      return true;
    }
    long elements = one.data().byteSize() / one.dtype().bytes();
    for (long from = 0; from < elements; from += PIECE) {
      long count = Math.min(PIECE, elements - from);
      try (Arena piece = Arena.ofConfined()) {
        if (floats(one, from, count, piece).mismatch(floats(other, from, count, piece)) >= 0) {
          return false;
        }
      }
    }
    return true;
  }

  private static MemorySegment floats(StoredTensor tensor, long from, long count, Arena arena) {
    int width = tensor.dtype().bytes();
    MemorySegment floats = arena.allocate(count * Float.BYTES, Float.BYTES);
    tensor.dtype().toFloats(tensor.data().asSlice(from * width, count * width), floats);
    return floats;
  }
}
