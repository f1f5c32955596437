package io.troupe.base.process;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A file of bounded size that bytes are appended to. A full file is renamed to {@code NAME.1}, the
 * former {@code NAME.1} to {@code NAME.2} and so on, the oldest file is deleted, and a new file
 * begins. A file is cut at the end of a line if one fits. No file is ever longer than the bound: if
 * files cannot be renamed, nothing is written. Not safe for use by several threads.
 */
final class RotatedFile implements ChildLog.Sink {
  private final Path file;
  private final Bounds bounds;
  private Optional<FileChannel> open = Optional.empty();
  private long size;

  /**
   * The bounds of the files.
   *
   * @param fileBytes most bytes of each file
   * @param files number of files
   */
  record Bounds(long fileBytes, int files) {
    Bounds {
      require(fileBytes >= 1, "a file takes 1 byte or more, not %d", fileBytes);
      require(files >= 2, "there are two files or more, not %d", files);
    }
  }

  /**
   * Creates a file that is opened with the first bytes; its existing content counts towards the
   * bound.
   */
  RotatedFile(Path file, Bounds bounds) {
    this.file = file;
    this.bounds = bounds;
  }

  @Override
  public void write(byte[] bytes) throws IOException {
    FileChannel channel = channel();
    int from = 0;
    while (from < bytes.length) {
      int end = end(bytes, from, bounds.fileBytes() - size);
      from = write(channel, bytes, from, end);
      if (from < bytes.length) {
        rotate();
        channel = channel();
      }
    }
  }

  private int write(FileChannel channel, byte[] bytes, int from, int end) throws IOException {
    ByteBuffer rest = ByteBuffer.wrap(bytes, from, end - from);
    try {
      while (rest.hasRemaining()) {
        size += channel.write(rest);
      }
    } catch (IOException refused) {
      close(); // Bytes that were written count when the file is opened again.
      throw refused;
    }
    return end;
  }

  /**
   * Returns the end of the part to write: after the last line that fits, or at the bound if a line
   * is longer.
   */
  private int end(byte[] bytes, int from, long room) {
    if (bytes.length - from <= room) {
      return bytes.length;
    }
    int most = (int) Math.max(0, room);
    int line = behindLastLine(bytes, from, from + most);
    if (line > from) {
      return line;
    }
    int whole = (int) Math.min(bytes.length, from + bounds.fileBytes());
    boolean fitsAnother = size > 0 && behindLastLine(bytes, from, whole) > from;
    return fitsAnother ? from : from + most;
  }

  private static int behindLastLine(byte[] bytes, int from, int to) {
    int at = to;
    while (at > from && bytes[at - 1] != '\n') {
      at--;
    }
    return at;
  }

  private FileChannel channel() throws IOException {
    if (open.isEmpty()) {
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      open = Optional.of(channel);
      size = channel.size();
    }
    return open.get();
  }

  private void rotate() throws IOException {
    close();
    for (int number = bounds.files() - 1; number >= 1; number--) {
      Path older = number == 1 ? file : numbered(number - 1);
      if (Files.exists(older)) {
        Files.move(older, numbered(number), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private Path numbered(int number) {
    return file.resolveSibling(file.getFileName() + "." + number);
  }

  @Override
  public void close() throws IOException {
    Optional<FileChannel> closing = open;
    open = Optional.empty();
    if (closing.isPresent()) {
      closing.get().close();
    }
  }
}
