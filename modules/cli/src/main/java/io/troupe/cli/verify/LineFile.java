package io.troupe.cli.verify;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPInputStream;

/**
 * Lines of bytes, numbered from 1: a file, a gzip file whatever its name, or standard input. Bytes,
 * because a line that is no UTF-8 is a bad line and not a wrong character.
 */
public final class LineFile {
  /** Bytes of a line; of a longer one no more than one byte beyond is handed on. */
  static final int LONGEST = 256 << 20;

  private static final int GZIP_MAGIC = 0x1f8b;

  private final String name;

  private LineFile(String name) {
    this.name = name;
  }

  /**
   * Opens an existing file, the standard input ({@code -}), or all files of rollouts in a run's
   * folder, the oldest first.
   *
   * @throws IOException if it cannot be read; says which and why
   */
  public static List<LineFile> all(String name) throws IOException {
    Path traces = Path.of(name, "traces");
    if (name.equals("-") || !Files.isDirectory(traces)) {
      return List.of(of(name));
    }
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(traces, "rollouts*.jsonl{,.gz}")) {
      found.forEach(files::add);
    }
    if (files.isEmpty()) {
      throw new NoSuchFileException("the run %s has no rollouts in %s".formatted(name, traces));
    }
    // rollouts.jsonl is the one that grows; those before it were put aside with a number or a time.
    files.sort(Comparator.comparing(LineFile::grows).thenComparing(Path::toString));
    List<LineFile> all = new ArrayList<>();
    for (Path file : files) {
      all.add(of(file.toString()));
    }
    return all;
  }

  private static boolean grows(Path file) {
    return file.endsWith("rollouts.jsonl");
  }

  /**
   * A file that exists, or {@code -}.
   *
   * @throws IOException if it cannot be read; says which and why
   */
  public static LineFile of(String name) throws IOException {
    if (!name.equals("-")) {
      Path path = Path.of(name);
      if (!Files.exists(path)) {
        throw new NoSuchFileException(
            "the input %s does not exist".formatted(path.toAbsolutePath()));
      }
      if (Files.isDirectory(path) || !Files.isReadable(path)) {
        throw new IOException("the input %s cannot be read".formatted(path.toAbsolutePath()));
      }
    }
    return new LineFile(name);
  }

  /** Returns the file's name for messages. */
  String name() {
    return name.equals("-") ? "standard input" : name;
  }

  Reader open() throws IOException {
    InputStream bytes =
        new BufferedInputStream(
            name.equals("-") ? System.in : Files.newInputStream(Path.of(name)), 1 << 16);
    bytes.mark(2);
    int magic = bytes.read() << 8 | bytes.read();
    bytes.reset();
    return new Reader(
        magic == GZIP_MAGIC ? new BufferedInputStream(new GZIPInputStream(bytes), 1 << 16) : bytes);
  }

  /** Reads line by line. */
  static final class Reader implements AutoCloseable {
    private final InputStream bytes;
    private long number;

    private Reader(InputStream bytes) {
      this.bytes = bytes;
    }

    /** The next line without its end, or nothing behind the last. */
    Optional<byte[]> next() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream(512);
      int b = bytes.read();
      if (b < 0) {
        return Optional.empty();
      }
      for (; b >= 0 && b != '\n'; b = bytes.read()) {
        if (line.size() <= LONGEST) {
          line.write(b);
        }
      }
      number++;
      return Optional.of(line.toByteArray());
    }

    /** Returns the number of the line that was read last, from 1. */
    long number() {
      return number;
    }

    @Override
    public void close() throws IOException {
      bytes.close();
    }
  }
}
