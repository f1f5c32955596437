package io.troupe.weights.cache;

import io.troupe.store.file.MachineMemory;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** The space that a directory has left. */
final class FreeSpace {
  private FreeSpace() {}

  /** Bytes free; of a file system in memory, no more than the memory the host can spare. */
  static long of(Path directory) throws IOException {
    FileStore store = Files.getFileStore(directory);
    long free = store.getUsableSpace();
    return store.type().equals("tmpfs")
        ? Math.min(free, MachineMemory.available().orElse(free))
        : free;
  }
}
