package io.troupe.engine.safetensors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * A model's tensors in a directory, as {@code transformers} lays them out: {@code
 * model.safetensors}, or {@code model-00001-of-00003.safetensors} and so on with {@code
 * model.safetensors.index.json}, which names the file of each tensor.
 *
 * @param source the single file, or the index; messages about a tensor name it
 * @param tensors the weights by name, mapped
 */
public record ModelFiles(Path source, Map<String, StoredTensor> tensors) {
  /** The largest shard of {@code transformers}, in bytes. */
  public static final long DEFAULT_SHARD_BYTES = 5_000_000_000L;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SINGLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final Map<String, String> FORMAT = Map.of("format", "pt");

  public ModelFiles {
    tensors = Map.copyOf(tensors);
  }

  /**
   * Writes tensors in the given order, durably, as one file, or as shards and an index where the
   * tensors take more than {@code shardBytes}; a larger tensor is a shard of its own.
   */
  public static void write(Path directory, List<StoredTensor> tensors, long shardBytes)
      throws IOException {
    var _ =
        write(
            directory,
            tensors,
            tensor -> tensor.data().byteSize(),
            StoredTensor::name,
            shardBytes,
            SafetensorsFile::write);
  }

  /**
   * Creates the files of a model whose tensors are holes, which {@link TensorRangeWriter} fills.
   *
   * @return the names of the files with tensors
   */
  public static List<String> create(Path directory, List<Declared> tensors, long shardBytes)
      throws IOException {
    return write(
        directory, tensors, Declared::bytes, Declared::name, shardBytes, SafetensorsFile::create);
  }

  /** Writes one file of tensors. */
  private interface FileWriter<T> {
    void write(Path file, List<T> tensors, Map<String, String> metadata) throws IOException;
  }

  private static <T> List<String> write(
      Path directory,
      List<T> tensors,
      ToLongFunction<T> bytes,
      Function<T, String> names,
      long shardBytes,
      FileWriter<T> file)
      throws IOException {
    List<List<T>> shards = shards(tensors, bytes, shardBytes);
    if (shards.size() <= 1) {
      file.write(directory.resolve(SINGLE), tensors, FORMAT);
      return List.of(SINGLE);
    }
    ObjectNode index = JSON.createObjectNode();
    index.putObject("metadata").put("total_size", tensors.stream().mapToLong(bytes).sum());
    Map<String, String> places = new TreeMap<>();
    List<String> files = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      String name = "model-%05d-of-%05d.safetensors".formatted(i + 1, shards.size());
      file.write(directory.resolve(name), shards.get(i), FORMAT);
      shards.get(i).forEach(tensor -> places.put(names.apply(tensor), name));
      files.add(name);
    }
    index.set("weight_map", JSON.valueToTree(places));
    Files.write(
        directory.resolve(INDEX),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(index),
        StandardOpenOption.CREATE_NEW,
        StandardOpenOption.WRITE,
        StandardOpenOption.DSYNC);
    return files;
  }

  private static <T> List<List<T>> shards(
      List<T> tensors, ToLongFunction<T> bytes, long shardBytes) {
    List<List<T>> shards = new ArrayList<>();
    List<T> shard = new ArrayList<>();
    long sum = 0;
    for (T tensor : tensors) {
      long size = bytes.applyAsLong(tensor);
      if (!shard.isEmpty() && sum + size > shardBytes) {
        shards.add(shard);
        shard = new ArrayList<>();
        sum = 0;
      }
      shard.add(tensor);
      sum += size;
    }
    shards.add(shard);
    return shards;
  }

  /** Writes the weights of a policy in a type, as above. */
  public static void write(Path directory, WeightSnapshot weights, DType type) throws IOException {
    try (Arena converted = Arena.ofShared()) {
      write(directory, StoredTensor.all(weights, type, converted), DEFAULT_SHARD_BYTES);
    }
  }

  /**
   * Maps all weights for the arena's life. Tensors that only repeat what config.json says are left
   * out, here for every reader: {@link RedundantTensors}.
   *
   * @throws IOException if files are missing, have another format, do not hold the tensors that the
   *     index names, or contradict config.json; the message names file and tensor
   */
  public static ModelFiles map(Path directory, Arena arena) throws IOException {
    Path index = directory.resolve(INDEX);
    Path single = directory.resolve(SINGLE);
    if (Files.exists(single)) {
      return of(single, directory, SafetensorsFile.map(single, arena).tensors());
    }
    if (!Files.exists(index)) {
      throw new IOException(
          "%s holds neither %s nor %s; PyTorch's own format (.bin, .pth) is not read: save the model"
                  .formatted(directory, SINGLE, INDEX)
              + " with safe_serialization=True");
    }
    return mapShards(directory, index, arena);
  }

  private static ModelFiles mapShards(Path directory, Path index, Arena arena) throws IOException {
    JsonNode places = weightMap(index);
    Map<String, SafetensorsFile> shards = new HashMap<>();
    Map<String, StoredTensor> tensors = new TreeMap<>();
    for (Map.Entry<String, JsonNode> place : places.properties()) {
      String name = place.getValue().asText();
      SafetensorsFile shard = shards.get(name);
      if (shard == null) {
        shard = SafetensorsFile.map(shard(directory, index, name), arena);
        shards.put(name, shard);
      }
      StoredTensor tensor = shard.tensors().get(place.getKey());
      if (tensor == null) {
        throw new IOException(
            "%s says that %s holds the tensor %s, and it does not"
                .formatted(index, directory.resolve(name), place.getKey()));
      }
      tensors.put(place.getKey(), tensor);
    }
    for (Map.Entry<String, SafetensorsFile> shard : shards.entrySet()) {
      for (String name : shard.getValue().tensors().keySet()) {
        if (!places.path(name).asText().equals(shard.getKey())) {
          throw new IOException(
              "%s holds the tensor %s, which %s does not place there"
                  .formatted(directory.resolve(shard.getKey()), name, index));
        }
      }
    }
    return of(index, directory, tensors);
  }

  private static ModelFiles of(Path source, Path directory, Map<String, StoredTensor> tensors)
      throws IOException {
    return new ModelFiles(source, RedundantTensors.leftOut(source, directory, tensors));
  }

  private static JsonNode weightMap(Path index) throws IOException {
    try {
      JsonNode places = JSON.readTree(Files.readAllBytes(index)).path("weight_map");
      if (places.isObject() && !places.isEmpty()) {
        return places;
      }
    } catch (JsonProcessingException failure) {
      throw new IOException("%s is not JSON".formatted(index), failure);
    }
    throw new IOException("%s has no weight_map, which places tensors in files".formatted(index));
  }

  /**
   * A file beside the index, and nowhere else, because the name comes from the author of the model.
   */
  private static Path shard(Path directory, Path index, String name) throws IOException {
    if (name.isEmpty()
        || name.contains("/")
        || name.contains("\\")
        || name.startsWith(".")
        || !name.endsWith(".safetensors")) {
      throw new IOException(
          "%s places tensors in '%s', which is no name of a .safetensors file beside it"
              .formatted(index, name));
    }
    Path file = directory.resolve(name);
    if (!Files.exists(file)) {
      throw new IOException("%s places tensors in %s, which is missing".formatted(index, file));
    }
    return file;
  }
}
