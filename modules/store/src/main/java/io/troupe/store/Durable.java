package io.troupe.store;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/** File operations that survive a power loss once they have returned. */
final class Durable {
  private Durable() {}

  /** Writes a new file and fsyncs it. The folder's entry is not synced. */
  static void write(Path file, byte[] bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
  }

  /** Fsyncs a file's content. */
  static void syncFile(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Fsyncs a folder's entries, where the system has such a thing: not on Windows. */
  static void syncFolder(Path folder) throws IOException {
    if (File.separatorChar == '/') {
      try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  /** The folder a file stands in. */
  static Path parent(Path file) {
    return Optional.ofNullable(file.toAbsolutePath().getParent()).orElseThrow();
  }

  /** Deletes a file, or a folder and all in it; symbolic links are deleted, never followed. */
  static void deleteTree(Path root) throws IOException {
    try {
      Files.walkFileTree(root, new Deletion());
    } catch (NoSuchFileException gone) {
      // Deleted is deleted.
    }
  }

  private static final class Deletion extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, IOException failure) throws IOException {
      Optional<IOException> unread = Optional.ofNullable(failure);
      if (unread.isPresent()) {
        throw unread.get();
      }
      Files.deleteIfExists(folder);
      return FileVisitResult.CONTINUE;
    }
  }
}
