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
 * A small file that is whole or absent: whatever ends the process or the machine that writes it,
 * who reads it finds what was there before or all that was written.
 */
public final class AtomicFile {
  private static final Object ONE_AT_A_TIME = new Object();

  private AtomicFile() {}

  /** What a new file holds. */
  @FunctionalInterface
  public interface Content {
    /** Makes a file, which is absent, and writes all of it. */
    void write(Path file) throws IOException;
  }

  /**
   * Writes beside the file, fsyncs, and renames over it; durable when it returns. The caller lets
   * one thread write at a time.
   *
   * @param attributes of the new file, such as who may read it
   */
  public static void replace(Path file, byte[] content, FileAttribute<?>... attributes)
      throws IOException {
    replace(
        file,
        beside -> {
          Files.createFile(beside, attributes);
          Files.write(beside, content);
        });
  }

  /** The same with content that is written piece by piece. */
  public static void replace(Path file, Content content) throws IOException {
    Path beside = file.resolveSibling(".%s.tmp".formatted(file.getFileName()));
    boolean done = false;
    try {
      Files.deleteIfExists(beside); // of a process that ended here
      content.write(beside);
      DurableFiles.syncFile(beside);
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
   * The text of a file that is written by whoever comes first and never changes, even if several
   * processes come at once. One that is not sound was cut off by an older program or by a disk, and
   * is written again: nobody can have used it.
   *
   * @param sound whether a text is one that {@code content} can have made
   * @param attributes with which it is made
   */
  public static String once(
      Path file, Supplier<String> content, Predicate<String> sound, FileAttribute<?>... attributes)
      throws IOException {
    Optional<String> there = read(file).filter(sound);
    if (there.isPresent()) {
      return there.get();
    }
    Path turn = file.resolveSibling(file.getFileName() + ".lock");
    synchronized (ONE_AT_A_TIME) { // The system's locks are between processes.
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
