package io.troupe.weights.cache;

import static io.troupe.core.Require.require;

import io.troupe.base.hash.Sha256;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * The place of a node's weights.
 *
 * @param roots directories of this cache alone, the fastest first; a version goes to the first that
 *     has room. Usually one in {@code /dev/shm}, then one on a disk
 * @param reserveBytes that stay free on the file system of each root, and of the memory when it is
 *     one in memory
 * @param versions kept at most; the older go when a new one is whole
 * @param chunkBytes of the largest chunk of versions published here
 */
public record WeightCacheSettings(
    List<Path> roots, long reserveBytes, int versions, int chunkBytes) {
  static final int DEFAULT_VERSIONS = 2;
  static final int DEFAULT_CHUNK = 4 << 20;
  static final long DEFAULT_RESERVE = 256L << 20;
  private static final int MOST_CHUNK = 64 << 20;
  static final Path MEMORY = Path.of("/dev/shm");
  static final String PREFIX = "troupe-";
  private static final int DIGITS = 8;

  public WeightCacheSettings {
    roots = List.copyOf(roots);
    require(!roots.isEmpty(), "a weight cache needs a directory");
    require(reserveBytes >= 0, "the reserve is 0 bytes or more, not %d", reserveBytes);
    require(versions >= 1, "a weight cache keeps 1 version or more, not %d", versions);
    require(
        chunkBytes >= 1 && chunkBytes <= MOST_CHUNK,
        "a chunk has from 1 to %d bytes, not %d",
        MOST_CHUNK,
        chunkBytes);
  }

  /**
   * The usual settings: memory first, if the host has {@code /dev/shm}, then a disk. The folder in
   * memory has a name of the disk's path too, because runs in two folders may have one name.
   *
   * @param name of this node within the run: two nodes of one host must not share it
   * @param disk a directory for this cache alone
   */
  public static WeightCacheSettings usual(String name, Path disk) {
    List<Path> roots =
        MEMORY.toFile().canWrite() ? List.of(inMemory(MEMORY, name, disk), disk) : List.of(disk);
    return new WeightCacheSettings(roots, DEFAULT_RESERVE, DEFAULT_VERSIONS, DEFAULT_CHUNK);
  }

  /** Returns the folder in memory that is used in place of a folder on a disk. */
  static Path inMemory(Path memory, String name, Path disk) {
    return memory.resolve(PREFIX + name + "-" + shortDigest(disk));
  }

  private static String shortDigest(Path disk) {
    String path = disk.toAbsolutePath().normalize().toString();
    return Sha256.hex(path.getBytes(StandardCharsets.UTF_8)).substring(0, DIGITS);
  }
}
