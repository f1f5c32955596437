package io.troupe.engine.safetensors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes ranges of tensors into files whose headers are there, and reads them. Several processes
 * may write ranges that do not overlap into the same files at once.
 */
public final class TensorRangeWriter implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long CHUNK = 1 << 30; // a buffer on a segment ends at 2 GiB

  private final List<FileChannel> channels = new ArrayList<>();
  private final Map<String, Place> places = new HashMap<>();

  /** The bytes of a tensor in a file. */
  private record Place(FileChannel channel, Path file, long from, long to) {}

  private TensorRangeWriter() {}

  /**
   * Opens files.
   *
   * @param names relative to the folder; no two of the files hold tensors of the same name
   * @throws IOException if a file is missing or has no header
   */
  public static TensorRangeWriter open(Path folder, List<String> names) throws IOException {
    TensorRangeWriter writer = new TensorRangeWriter();
    try {
      for (String name : names) {
        writer.add(folder.resolve(name));
      }
      return writer;
    } catch (IOException unreadable) {
      writer.close();
      throw unreadable;
    }
  }

  private void add(Path file) throws IOException {
    FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    channels.add(channel);
    int length = Math.toIntExact(read(channel, file, 0, Long.BYTES).getLong());
    JsonNode header = JSON.readTree(read(channel, file, Long.BYTES, length).array());
    long data = Long.BYTES + (long) length;
    for (Map.Entry<String, JsonNode> entry : header.properties()) {
      JsonNode offsets = entry.getValue().path("data_offsets");
      if (offsets.isArray()) {
        places.put(
            entry.getKey(),
            new Place(
                channel, file, data + offsets.path(0).asLong(), data + offsets.path(1).asLong()));
      }
    }
  }

  private static ByteBuffer read(FileChannel channel, Path file, long from, int length)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes, from + bytes.position()) < 0) {
        throw new IOException("%s ends within its header".formatted(file));
      }
    }
    return bytes.flip();
  }

  /**
   * Writes a range of a tensor.
   *
   * @param from first byte of the range within the tensor
   * @param bytes as in the file
   * @throws IOException if no file holds the tensor, or the tensor is shorter
   */
  public void write(String tensor, long from, MemorySegment bytes) throws IOException {
    Place place = place(tensor, from, bytes.byteSize());
    for (long done = 0; done < bytes.byteSize(); ) {
      long length = Math.min(CHUNK, bytes.byteSize() - done);
      ByteBuffer part = bytes.asSlice(done, length).asByteBuffer();
      while (part.hasRemaining()) {
        place.channel.write(part, place.from + from + done + part.position());
      }
      done += length;
    }
  }

  /**
   * Reads a range of a tensor: as many bytes as remain in the buffer.
   *
   * @param from first byte of the range within the tensor
   * @throws IOException if no file holds the tensor, or the tensor is shorter
   */
  public void read(String tensor, long from, ByteBuffer into) throws IOException {
    Place place = place(tensor, from, into.remaining());
    long at = place.from + from - into.position();
    while (into.hasRemaining()) {
      if (place.channel.read(into, at + into.position()) < 0) {
        throw new IOException("%s ends within %s".formatted(place.file, tensor));
      }
    }
    into.flip();
  }

  private Place place(String tensor, long from, long bytes) throws IOException {
    Place place = places.get(tensor);
    if (place == null) {
      throw new IOException("no file was made for the tensor %s".formatted(tensor));
    }
    if (from < 0 || place.from + from + bytes > place.to) {
      throw new IOException(
          "%s: bytes %d to %d of %s, which has %d"
              .formatted(place.file, from, from + bytes, tensor, place.to - place.from));
    }
    return place;
  }

  /** Makes what was written durable. */
  public void force() throws IOException {
    for (FileChannel channel : channels) {
      channel.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    for (FileChannel channel : channels) {
      channel.close();
    }
  }
}
