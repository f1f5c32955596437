package io.troupe.engine.safetensors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One file of the format: the header's length in 8 bytes, little-endian; the header, a JSON object
 * of each tensor's dtype, shape and place; then the tensors' bytes, without a gap.
 *
 * @param tensors by name, mapped
 * @param metadata texts that the writer added
 */
public record SafetensorsFile(Map<String, StoredTensor> tensors, Map<String, String> metadata) {
  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
  private static final ValueLayout.OfLong LENGTH =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final String METADATA = "__metadata__";
  private static final int ALIGNMENT = 8;
  private static final long CHUNK = 1 << 30; // a buffer on a segment ends at 2 GiB
  private static final long MOST_HEADER_BYTES = 100_000_000; // the format's own limit

  public SafetensorsFile {
    tensors = Map.copyOf(tensors);
    metadata = Map.copyOf(metadata);
  }

  /**
   * Creates a file whose tensors are holes, which {@link TensorRangeWriter} fills. Tensors lie in
   * the given order.
   */
  public static void create(Path file, List<Declared> tensors, Map<String, String> metadata)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      writeHeader(channel, tensors, metadata);
      long data = tensors.stream().mapToLong(Declared::bytes).sum();
      if (data > 0) {
        channel.write(ByteBuffer.allocate(1), channel.position() + data - 1);
      }
    }
  }

  /**
   * A tensor of a file to be written.
   *
   * @param shape extents, outermost first
   */
  public record Declared(String name, DType dtype, List<Long> shape) {
    public Declared {
      shape = List.copyOf(shape);
    }

    /** Returns the bytes of the tensor. */
    public long bytes() {
      return shape.stream().reduce((long) dtype.bytes(), Math::multiplyExact);
    }
  }

  /** Writes a new file, durably. Tensors lie in the given order. */
  public static void write(Path file, List<StoredTensor> tensors, Map<String, String> metadata)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      writeHeader(channel, tensors.stream().map(StoredTensor::declared).toList(), metadata);
      for (StoredTensor tensor : tensors) {
        for (long from = 0; from < tensor.data().byteSize(); from += CHUNK) {
          long length = Math.min(CHUNK, tensor.data().byteSize() - from);
          writeFully(channel, tensor.data().asSlice(from, length).asByteBuffer());
        }
      }
      channel.force(true);
    }
  }

  private static void writeHeader(
      FileChannel channel, List<Declared> tensors, Map<String, String> metadata)
      throws IOException {
    byte[] header = header(tensors, metadata);
    ByteBuffer start =
        ByteBuffer.allocate(Long.BYTES + header.length).order(ByteOrder.LITTLE_ENDIAN);
    writeFully(channel, start.putLong(header.length).put(header).flip());
  }

  private static byte[] header(List<Declared> tensors, Map<String, String> metadata)
      throws JsonProcessingException {
    ObjectNode header = JSON.createObjectNode();
    ObjectNode meta = header.putObject(METADATA);
    new TreeMap<>(metadata).forEach(meta::put);
    long end = 0;
    for (Declared tensor : tensors) {
      ObjectNode entry = header.putObject(tensor.name());
      entry.put("dtype", tensor.dtype().name());
      entry.set("shape", JSON.valueToTree(tensor.shape()));
      entry.putArray("data_offsets").add(end).add(end + tensor.bytes());
      end += tensor.bytes();
    }
    String text = JSON.writeValueAsString(header);
    int padding = Math.floorMod(-text.getBytes(StandardCharsets.UTF_8).length, ALIGNMENT);
    return (text + " ".repeat(padding)).getBytes(StandardCharsets.UTF_8);
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /**
   * Maps a file of any size for the arena's life.
   *
   * @throws IOException if the file has another format; the message names file, tensor and rule
   */
  public static SafetensorsFile map(Path file, Arena arena) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = channel.size();
      check(size >= Long.BYTES, file, "it has %d bytes and no header".formatted(size));
      MemorySegment all = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
      long length = all.get(LENGTH, 0);
      check(
          length >= 2 && length <= Math.min(size - Long.BYTES, MOST_HEADER_BYTES),
          file,
          "its header claims %d of the file's %d bytes".formatted(length, size));
      byte[] text = all.asSlice(Long.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
      return content(file, parse(file, text), all.asSlice(Long.BYTES + length));
    }
  }

  private static JsonNode parse(Path file, byte[] text) throws IOException {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException failure) {
      throw new IOException(
          "%s is no safetensors file that can be read: its header is not JSON, or names a tensor twice"
              .formatted(file),
          failure);
    }
  }

  private static SafetensorsFile content(Path file, JsonNode header, MemorySegment data)
      throws IOException {
    check(header.isObject(), file, "its header is no JSON object");
    Map<String, StoredTensor> tensors = new TreeMap<>();
    Map<String, String> metadata = new TreeMap<>();
    List<StoredTensor> places = new ArrayList<>();
    for (Map.Entry<String, JsonNode> entry : header.properties()) {
      if (entry.getKey().equals(METADATA)) {
        entry.getValue().properties().forEach(m -> metadata.put(m.getKey(), m.getValue().asText()));
      } else {
        StoredTensor tensor = tensor(file, entry.getKey(), entry.getValue(), data);
        tensors.put(entry.getKey(), tensor);
        places.add(tensor);
      }
    }
    long end = 0;
    places.sort(
        Comparator.comparingLong((StoredTensor t) -> t.data().address())
            .thenComparingLong(t -> t.data().byteSize()));
    for (StoredTensor tensor : places) {
      long from = tensor.data().address() - data.address();
      check(
          from == end,
          file,
          "%s begins at byte %d, but the tensors before it end at %d"
              .formatted(tensor.name(), from, end));
      end += tensor.data().byteSize();
    }
    check(
        end == data.byteSize(),
        file,
        "its tensors take %d bytes, but %d follow the header".formatted(end, data.byteSize()));
    return new SafetensorsFile(tensors, metadata);
  }

  private static StoredTensor tensor(Path file, String name, JsonNode entry, MemorySegment data)
      throws IOException {
    String text = entry.path("dtype").asText();
    Optional<DType> dtype =
        Arrays.stream(DType.values()).filter(known -> known.name().equals(text)).findAny();
    check(
        dtype.isPresent(),
        file,
        "%s has dtype '%s'; F32, F16 and BF16 can be read".formatted(name, text));
    List<Long> shape = new ArrayList<>();
    entry.path("shape").forEach(extent -> shape.add(extent.asLong(-1)));
    long from = entry.path("data_offsets").path(0).asLong(-1);
    long to = entry.path("data_offsets").path(1).asLong(-1);
    long bytes = dtype.orElseThrow().bytes();
    for (long extent : shape) {
      check(extent >= 0, file, "%s has shape %s".formatted(name, shape));
      bytes = Math.multiplyHigh(bytes, extent) == 0 ? bytes * extent : -1;
      check(bytes >= 0, file, "%s has shape %s, too large for any file".formatted(name, shape));
    }
    check(
        from >= 0 && to >= from && to <= data.byteSize() && to - from == bytes,
        file,
        "%s of shape %s, %d bytes, claims bytes %d to %d of the %d that follow the header; the file is cut off or damaged"
            .formatted(name, shape, bytes, from, to, data.byteSize()));
    return new StoredTensor(name, dtype.orElseThrow(), shape, data.asSlice(from, bytes));
  }

  private static void check(boolean rule, Path file, String what) throws IOException {
    if (!rule) {
      throw new IOException("%s is no safetensors file that can be read: %s".formatted(file, what));
    }
  }
}
