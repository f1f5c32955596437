package io.troupe.ranks.protocol;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import io.troupe.base.files.FileTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What a trainer has saved, on its way to a rank of another host: the files of a folder. */
public final class StateTransfer {
  private StateTransfer() {}

  /** Returns the files of a state, relative to the folder. */
  public static List<String> files(Path folder) throws IOException {
    return FileTree.files(folder).stream().map(file -> folder.relativize(file).toString()).toList();
  }

  /** Sends files; {@link #receive} on the other side. */
  public static void send(RankConnection line, Path folder, List<String> files) throws IOException {
    for (String file : files) {
      try (FileChannel content = FileChannel.open(folder.resolve(file))) {
        line.send(content);
      }
    }
  }

  /**
   * Takes files into a folder that is empty. Hears them to their end even where they cannot be
   * written, so that the line can be used to say so.
   *
   * @throws IOException if the line breaks
   * @throws UncheckedIOException if they could not be written, and all was heard
   */
  public static void receive(RankConnection line, Path folder, List<String> files)
      throws IOException {
    Optional<IOException> trouble = Optional.empty();
    for (String file : files) {
      try (Writing writing = new Writing(trouble)) {
        writing.open(folder, file);
        line.receiveFile(writing::take);
        trouble = writing.trouble;
      }
    }
    if (trouble.isPresent()) {
      throw new UncheckedIOException(
          "the trainer's state cannot be written into %s: %s"
              .formatted(folder, trouble.get().getMessage()),
          trouble.get());
    }
  }

  /** A file as it comes; nothing more is written after the first trouble. */
  private static final class Writing implements AutoCloseable {
    private Optional<FileChannel> content = Optional.empty();
    private Optional<IOException> trouble;

    Writing(Optional<IOException> before) {
      this.trouble = before;
    }

    void open(Path folder, String file) {
      Path target = folder.resolve(file).normalize();
      if (!target.startsWith(folder)) {
        trouble = Optional.of(new IOException("the file %s is not in it".formatted(file)));
      }
      if (trouble.isPresent()) {
        return;
      }
      try {
        Files.createDirectories(target.resolveSibling("."));
        content = Optional.of(FileChannel.open(target, CREATE_NEW, WRITE));
      } catch (IOException unwritable) {
        trouble = Optional.of(unwritable);
      }
    }

    void take(ByteBuffer bytes) {
      if (trouble.isPresent() || content.isEmpty()) {
        return;
      }
      try {
        while (bytes.hasRemaining()) {
          content.get().write(bytes);
        }
      } catch (IOException full) {
        trouble = Optional.of(full);
      }
    }

    @Override
    public void close() throws IOException {
      if (content.isPresent()) {
        content.get().close();
      }
    }
  }
}
