package io.troupe.weights.cache;

import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;

/**
 * A private folder in the memory of the host, which is deleted when its owner closes it, or when
 * {@link AbandonedCaches} finds that the owner was killed.
 */
public final class MemoryFolder implements AutoCloseable {
  private final Path path;
  private final long reserve;
  private final FolderOwnership ownership;

  private MemoryFolder(Path path, long reserve, FolderOwnership ownership) {
    this.path = path;
    this.reserve = reserve;
    this.ownership = ownership;
  }

  /**
   * Makes a folder, after those of killed processes have been deleted; empty if the host has no
   * {@code /dev/shm}.
   *
   * @param name of what uses it
   * @param disk a folder that nothing else uses, which gives the one in memory its name
   */
  public static Optional<MemoryFolder> open(String name, Path disk) throws IOException {
    if (!WeightCacheSettings.MEMORY.toFile().canWrite()) {
      return Optional.empty();
    }
    AbandonedCaches.delete();
    return Optional.of(
        open(WeightCacheSettings.MEMORY, name, disk, WeightCacheSettings.DEFAULT_RESERVE));
  }

  static MemoryFolder open(Path memory, String name, Path disk, long reserve) throws IOException {
    String own = "%s-%d".formatted(name, ProcessHandle.current().pid());
    Path path = PrivateFiles.ownFolder(WeightCacheSettings.inMemory(memory, own, disk));
    return new MemoryFolder(
        path, reserve, FolderOwnership.take(path, "another process owns this folder; end it"));
  }

  /** Returns where it is. */
  public Path path() {
    return path;
  }

  /**
   * Writes what files have over itself. So the pages of their holes are made, and a process that
   * writes into them later does not find the memory full.
   *
   * @throws IOException if there is no room for them beside a reserve
   */
  public void makePages(List<Path> files) throws IOException {
    long bytes = 0;
    for (Path file : files) {
      bytes += Files.size(file);
    }
    long free = FreeSpace.of(path);
    if (free - reserve < bytes) {
      throw new IOException(
          "%s has %d bytes free, and files of %d beside a reserve of %d do not fit"
              .formatted(path, free, bytes, reserve));
    }
    for (Path file : files) {
      makePages(file);
    }
  }

  private static void makePages(Path file) throws IOException {
    ByteBuffer part = FileParts.buffer();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long bytes = channel.size();
      for (long at = 0; at < bytes; at += part.limit()) {
        FileParts.read(channel, at, part, (int) Math.min(FileParts.PART, bytes - at));
        while (part.hasRemaining()) {
          channel.write(part, at + part.position());
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    FileTree.delete(path);
    ownership.close();
  }
}
