package io.troupe.weights.cache;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.hash.Sha256;
import io.troupe.core.weights.WeightVersion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The files and chunks of a published version: {@code weights.json}.
 *
 * <p>A file is cut into chunks, the unit of transfer. A tensor starts a chunk unless it and its
 * neighbours fit into one, so that a tensor that did not change is whole chunks that did not
 * change, and does not travel. A chunk has three sums: SHA-256 says what it is, and is computed
 * once, by the publisher; CRC-32C, several times as fast, finds what went wrong on the way, at
 * every hop; CRC-32C and CRC-32 together prove what was made of a delta ({@link ChunkSums}). The
 * manifest itself is checked by SHA-256 against the {@link WeightRef}.
 *
 * @param format 2
 * @param version the trainer's name of the version
 * @param weights digest of the tensors, see {@link io.troupe.engine.weights.WeightSnapshot}: what
 *     completions sampled from them carry
 * @param files in name order
 * @param tensors of the safetensors files
 */
public record VersionManifest(
    int format, long version, String weights, List<FilePart> files, List<TensorPlace> tensors) {
  /** The manifest's name within the directory. */
  public static final String NAME = "weights.json";

  static final int FORMAT = 2;
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * One file.
   *
   * @param name plain, without folders
   * @param sha256 of its chunks' digests, in hex, one after the other
   */
  public record FilePart(String name, long bytes, String sha256, List<Chunk> chunks) {
    public FilePart {
      require(
          !name.isEmpty()
              && !name.startsWith(".")
              && name.chars().noneMatch(c -> c == '/' || c == '\\'),
          "'%s' is no plain file name",
          name);
      require(!name.equals(NAME), "%s is the manifest's own name", name);
      chunks = List.copyOf(chunks);
      long end = 0;
      for (Chunk chunk : chunks) {
        require(
            chunk.offset() == end && chunk.length() > 0,
            "the chunks of %s do not follow each other at byte %d",
            name,
            end);
        end += chunk.length();
      }
      require(end == bytes, "the chunks of %s end at byte %d of %d", name, end, bytes);
    }
  }

  /**
   * A range of a file.
   *
   * @param crc32c of its bytes
   * @param crc32 of its bytes
   * @param sha256 of its bytes, in hex
   */
  public record Chunk(long offset, int length, int crc32c, int crc32, String sha256) {}

  /**
   * The place of a tensor.
   *
   * @param dtype as safetensors writes it
   * @param shape extents, outermost first
   * @param offset within the file
   */
  public record TensorPlace(
      String name, String dtype, List<Long> shape, String file, long offset, long bytes) {
    public TensorPlace {
      shape = List.copyOf(shape);
    }
  }

  /** A chunk with the file it is in. */
  public record Place(FilePart file, Chunk chunk) {
    /** Whether another version has a chunk at the same bytes of a file of the same name. */
    public boolean sameRange(Place other) {
      return file.name().equals(other.file.name())
          && chunk.offset() == other.chunk.offset()
          && chunk.length() == other.chunk.length();
    }
  }

  public VersionManifest {
    require(
        format == FORMAT,
        "weights of format %d; this build reads %d: run one build everywhere",
        format,
        FORMAT);
    files = List.copyOf(files);
    tensors = List.copyOf(tensors);
    Set<String> names = new HashSet<>();
    for (FilePart file : files) {
      require(names.add(file.name()), "the manifest names %s twice", file.name());
    }
  }

  /**
   * Reads a manifest that came from elsewhere.
   *
   * @throws IOException if it is none
   */
  public static VersionManifest of(byte[] json) throws IOException {
    try {
      return JSON.readValue(json, VersionManifest.class);
    } catch (JsonProcessingException failure) {
      throw new IOException(
          "this is no manifest of weights: " + failure.getOriginalMessage(), failure);
    }
  }

  /** The manifest as it is written, sent and digested. */
  byte[] json() throws IOException {
    return JSON.writeValueAsBytes(this);
  }

  /** The name that a manifest's bytes give to the version. */
  WeightRef ref(byte[] json) {
    return new WeightRef(new WeightVersion(version), Sha256.hex(json), bytes());
  }

  /** Returns the number of bytes of all files. */
  public long bytes() {
    return files.stream().mapToLong(FilePart::bytes).sum();
  }

  /** All chunks; a chunk's number is its place in this list. */
  public List<Place> places() {
    List<Place> places = new ArrayList<>();
    for (FilePart file : files) {
      file.chunks().forEach(chunk -> places.add(new Place(file, chunk)));
    }
    return places;
  }
}
