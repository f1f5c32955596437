package io.troupe.weights.cache;

import io.troupe.base.hash.Sha256;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.weights.cache.VersionManifest.Chunk;
import io.troupe.weights.cache.VersionManifest.FilePart;
import io.troupe.weights.cache.VersionManifest.TensorPlace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Takes stock of a directory: cuts its files into chunks and sums them, on all processors. */
final class ManifestBuilder {
  private static final String TENSORS = ".safetensors";

  private static final ThreadLocal<ByteBuffer> PARTS = ThreadLocal.withInitial(FileParts::buffer);

  private ManifestBuilder() {}

  /**
   * Reads all files of a directory.
   *
   * @param weights the tensors' digest
   * @param chunkBytes of the largest chunk
   */
  static VersionManifest of(Path directory, WeightVersion version, String weights, int chunkBytes)
      throws IOException {
    List<FilePart> files = new ArrayList<>();
    List<TensorPlace> tensors = new ArrayList<>();
    try (Stream<Path> listing = Files.list(directory)) {
      for (Path file : listing.sorted().toList()) {
        if (!Files.isRegularFile(file)) {
          throw new IOException(
              "published weights are plain files, and %s is none".formatted(file));
        }
        List<TensorPlace> inside = name(file).endsWith(TENSORS) ? tensorsOf(file) : List.of();
        files.add(part(file, chunkBounds(Files.size(file), inside, chunkBytes)));
        tensors.addAll(inside);
      }
    }
    return new VersionManifest(VersionManifest.FORMAT, version.number(), weights, files, tensors);
  }

  private static String name(Path file) {
    return file.toFile().getName();
  }

  private static List<TensorPlace> tensorsOf(Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      List<StoredTensor> stored =
          SafetensorsFile.map(file, arena).tensors().values().stream()
              .sorted(
                  Comparator.comparingLong((StoredTensor t) -> t.data().address())
                      .thenComparing(StoredTensor::name))
              .toList();
      List<TensorPlace> places = new ArrayList<>();
      long end = Files.size(file) - stored.stream().mapToLong(t -> t.data().byteSize()).sum();
      for (StoredTensor tensor : stored) {
        long bytes = tensor.data().byteSize();
        places.add(
            new TensorPlace(
                tensor.name(), tensor.dtype().name(), tensor.shape(), name(file), end, bytes));
        end += bytes;
      }
      return places;
    }
  }

  /**
   * Returns the beginnings of chunks: at tensors, as far as that makes them no smaller than they
   * must be.
   */
  static List<Long> chunkBounds(long bytes, List<TensorPlace> tensors, int chunkBytes) {
    List<Long> ends = new ArrayList<>();
    tensors.forEach(tensor -> ends.add(tensor.offset()));
    ends.add(bytes);
    List<Long> cuts = new ArrayList<>();
    long chunk = 0;
    long piece = 0;
    for (long end : ends) {
      if (end - chunk > chunkBytes && piece > chunk) {
        cuts.add(chunk);
        chunk = piece;
      }
      while (end - chunk > chunkBytes) {
        cuts.add(chunk);
        chunk += chunkBytes;
      }
      piece = end;
    }
    if (bytes > chunk) {
      cuts.add(chunk);
    }
    return cuts;
  }

  private static FilePart part(Path file, List<Long> cuts) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long bytes = channel.size();
      List<Chunk> chunks =
          IntStream.range(0, cuts.size())
              .parallel()
              .mapToObj(
                  i -> {
                    long from = cuts.get(i);
                    long to = i + 1 < cuts.size() ? cuts.get(i + 1) : bytes;
                    return chunk(channel, from, Math.toIntExact(to - from));
                  })
              .toList();
      MessageDigest digest = Sha256.digest();
      chunks.forEach(chunk -> digest.update(HexFormat.of().parseHex(chunk.sha256())));
      return new FilePart(name(file), bytes, Sha256.hex(digest), chunks);
    } catch (UncheckedIOException failure) {
      throw failure.getCause();
    }
  }

  private static Chunk chunk(FileChannel file, long offset, int length) {
    ChunkSums sums = new ChunkSums();
    MessageDigest digest = Sha256.digest();
    ByteBuffer part = PARTS.get();
    try {
      for (int done = 0; done < length; done += part.limit()) {
        FileParts.read(file, offset + done, part, Math.min(FileParts.PART, length - done));
        sums.add(part);
        digest.update(part);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return new Chunk(offset, length, sums.crc32c(), sums.crc32(), Sha256.hex(digest));
  }
}
