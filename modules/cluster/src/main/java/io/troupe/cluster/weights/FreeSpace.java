package io.troupe.cluster.weights;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much a directory can take. */
final class FreeSpace {
  private static final Path MEMORY = Path.of("/proc/meminfo");
  private static final String AVAILABLE = "MemAvailable:";
  private static final long KIB = 1024;

  private FreeSpace() {}

  /** Bytes free; of a file system in memory, no more than the memory the host can spare. */
  static long of(Path directory) throws IOException {
    FileStore store = Files.getFileStore(directory);
    long free = store.getUsableSpace();
    return store.type().equals("tmpfs") ? Math.min(free, spareMemory(free)) : free;
  }

  private static long spareMemory(long otherwise) throws IOException {
    if (!Files.isReadable(MEMORY)) {
      return otherwise;
    }
    for (String line : Files.readAllLines(MEMORY)) {
      if (line.startsWith(AVAILABLE)) {
        return Long.parseLong(line.substring(AVAILABLE.length(), line.length() - 2).strip()) * KIB;
      }
    }
    return otherwise;
  }
}
