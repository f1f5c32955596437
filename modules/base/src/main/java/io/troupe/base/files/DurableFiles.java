package io.troupe.base.files;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Optional;
import java.util.Set;

/** File operations that survive a power loss once they have returned. */
public final class DurableFiles {
  private DurableFiles() {}

  /**
   * Writes a new file and fsyncs it. The folder's entry is not synced.
   *
   * @param attributes of the new file
   */
  public static void write(Path file, byte[] bytes, FileAttribute<?>... attributes)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), attributes)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
  }

  /** Fsyncs a file's content. */
  public static void syncFile(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Fsyncs a folder's entries, where the system supports it: not on Windows. */
  public static void syncFolder(Path folder) throws IOException {
    if (File.separatorChar == '/') {
      try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  /** Renames a file or folder atomically, replacing an existing file, and fsyncs its folder. */
  public static void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    syncFolder(parent(to));
  }

  /** Returns the folder of a file. */
  public static Path parent(Path file) {
    return Optional.ofNullable(file.toAbsolutePath().getParent()).orElseThrow();
  }
}
