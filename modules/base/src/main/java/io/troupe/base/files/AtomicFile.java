package io.troupe.base.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A small file that is whole or absent: if the writing process or its machine dies, a reader finds
 * the whole former content or the whole new content.
 */
public final class AtomicFile {
  private static final Object ONE_AT_A_TIME = new Object();

  private AtomicFile() {}

  /** The content of a new file. */
  @FunctionalInterface
  public interface Content {
    /** Creates the file and writes all of its content. */
    void write(Path file) throws IOException;
  }

  /**
   * Writes a temporary file beside the file, fsyncs it, and renames it over the file; durable when
   * the call returns. The caller lets one thread write at a time.
   *
   * @param attributes of the new file, such as who may read it
   */
  public static void replace(Path file, byte[] content, FileAttribute<?>... attributes)
      throws IOException {
    replaceSynced(file, beside -> DurableFiles.write(beside, content, attributes));
  }

  /** Replaces a file by content that is written piece by piece. */
  public static void replace(Path file, Content content) throws IOException {
    replaceSynced(
        file,
        beside -> {
          content.write(beside);
          DurableFiles.syncFile(beside);
        });
  }

  private static void replaceSynced(Path file, Content content) throws IOException {
    Path beside = file.resolveSibling(".%s.tmp".formatted(file.getFileName()));
    boolean done = false;
    try {
      Files.deleteIfExists(beside); // the file of a process that ended before the rename
      content.write(beside);
      DurableFiles.rename(beside, file);
      done = true;
    } finally {
      if (!done) {
        Files.deleteIfExists(beside);
      }
    }
  }

  /** {@link #replace(Path, byte[], FileAttribute[])} with a text in UTF-8. */
  public static void replace(Path file, String content, FileAttribute<?>... attributes)
      throws IOException {
    replace(file, content.getBytes(StandardCharsets.UTF_8), attributes);
  }

  /**
   * Returns the text of a file that the first caller writes and that never changes, even if several
   * processes call at once. A text that is not sound was cut off by an older program or by a disk
   * and is written again: no process can have used it.
   *
   * @param sound whether {@code content} can have made a text
   * @param attributes of the new file
   */
  public static String once(
      Path file, Supplier<String> content, Predicate<String> sound, FileAttribute<?>... attributes)
      throws IOException {
    Optional<String> there = read(file).filter(sound);
    if (there.isPresent()) {
      return there.get();
    }
    Path turn = file.resolveSibling(file.getFileName() + ".lock");
    synchronized (
        ONE_AT_A_TIME) { // The locks of the operating system exclude processes, not threads.
      try (FileChannel channel =
          FileChannel.open(turn, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.lock();
        there = read(file).filter(sound);
        if (there.isEmpty()) {
          replace(file, content.get(), attributes);
        }
      }
    }
    return Files.readString(file);
  }

  private static Optional<String> read(Path file) throws IOException {
    try {
      return Optional.of(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    } catch (NoSuchFileException absent) {
      return Optional.empty();
    }
  }
}
