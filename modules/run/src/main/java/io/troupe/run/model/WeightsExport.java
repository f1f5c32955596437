package io.troupe.run.model;

import io.troupe.engine.djl.checkpoint.ModelDescription;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A checkpoint's weights for other programs: without the optimizer, in a type of the user's choice,
 * beside the files that describe them.
 */
public final class WeightsExport {
  private static final String CONFIG = "config.json";

  private WeightsExport() {}

  /**
   * Writes the weights of a checkpoint.
   *
   * @param checkpoint folder with config.json and the weights
   * @param target an empty folder, or none
   * @param type of all numbers
   * @return the number of parameters written
   * @throws IOException if a file cannot be read or written, a tensor is not the policy's, or the
   *     target is not empty
   */
  public static long write(Path checkpoint, Path target, DType type) throws IOException {
    if (!Files.isRegularFile(checkpoint.resolve(CONFIG))) {
      throw new IOException(
          "%s: it has no config.json; name the folder of a checkpoint's policy"
              .formatted(checkpoint));
    }
    ModelDescription card = ModelDescription.read(checkpoint);
    Files.createDirectories(target);
    try (Stream<Path> there = Files.list(target)) {
      if (there.findAny().isPresent()) {
        throw new IOException(target + ": it is not empty; name a new folder");
      }
    }
    long parameters = 0;
    try (Arena arena = Arena.ofShared()) {
      List<StoredTensor> tensors = new ArrayList<>();
      ModelFiles weights = ModelFiles.map(checkpoint, arena);
      card.requireWeights(weights);
      for (StoredTensor tensor : weights.tensors().values()) {
        StoredTensor written = converted(tensor, type, arena);
        parameters += written.data().byteSize() / type.bytes();
        tensors.add(written);
      }
      ModelFiles.write(target, tensors, ModelFiles.DEFAULT_SHARD_BYTES);
    }
    card.storedAs(type).write(target);
    return parameters;
  }

  private static StoredTensor converted(StoredTensor tensor, DType type, Arena arena) {
    if (tensor.dtype() == type) {
      return tensor;
    }
    long count = tensor.data().byteSize() / tensor.dtype().bytes();
    MemorySegment to = arena.allocate(count * type.bytes(), Long.BYTES);
    try (Arena between = Arena.ofConfined()) {
      MemorySegment floats = between.allocate(count * Float.BYTES, Long.BYTES);
      tensor.dtype().toFloats(tensor.data(), floats);
      type.fromFloats(floats, to);
    }
    return new StoredTensor(tensor.name(), type, tensor.shape(), to);
  }
}
