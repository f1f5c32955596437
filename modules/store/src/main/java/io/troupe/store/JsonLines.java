package io.troupe.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A file of JSON objects, one a line, that grows: telemetry. Safe for use by several threads.
 *
 * <p>Telemetry never stops training: a line that cannot be written is counted, the first such
 * failure is reported, and later lines are tried again, so that a disk that was full for a while
 * costs lines and nothing else. A line is in the file whole or not at all, except for the last one
 * after a crash: opening the file ends that line when it is whole JSON and cuts it off otherwise.
 * Lines are not fsynced.
 */
public final class JsonLines implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final Path file;
  private final FileChannel channel;
  private final long flushNanos;
  private final LongSupplier nanoTime;
  private final Consumer<String> report;
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();
  private long end;
  private long bufferedLines;
  private long flushedAt;
  private long written;
  private long lost;
  private boolean partialLine;
  private boolean reported;

  private JsonLines(
      Path file,
      FileChannel channel,
      long flushNanos,
      LongSupplier nanoTime,
      Consumer<String> report,
      long end) {
    this.file = file;
    this.channel = channel;
    this.flushNanos = flushNanos;
    this.nanoTime = nanoTime;
    this.report = report;
    this.end = end;
    this.flushedAt = nanoTime.getAsLong();
  }

  /**
   * Opens a file for appending, making it if there is none.
   *
   * @param flushEvery zero writes every line at once; otherwise a line may wait in memory for that
   *     long, and is lost by a crash until then. Whoever writes seldom calls {@link #flush}
   * @param report takes one sentence, at most once
   */
  public static JsonLines open(Path file, Duration flushEvery, Consumer<String> report)
      throws IOException {
    return open(file, flushEvery, report, System::nanoTime, FileChannel::open);
  }

  static JsonLines open(
      Path file,
      Duration flushEvery,
      Consumer<String> report,
      LongSupplier nanoTime,
      ChannelOpener opener)
      throws IOException {
    try {
      long end = endOfLines(file);
      FileChannel channel =
          opener.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      return new JsonLines(file, channel, flushEvery.toNanos(), nanoTime, report, end);
    } catch (IOException failure) {
      throw DiskFailure.explain("open for appending lines", file, failure);
    }
  }

  /** Appends an object as one line; never throws because of the object or the disk. */
  public synchronized void write(Object object) {
    try {
      byte[] line = Json.LINE.writeValueAsBytes(object);
      buffer.writeBytes(line);
      buffer.write('\n');
      bufferedLines++;
    } catch (JsonProcessingException unwritable) {
      lose(
          1,
          "cannot write a %s as JSON to %s: %s"
              .formatted(object.getClass().getSimpleName(), file, unwritable.getOriginalMessage()));
    }
    if (buffer.size() >= BUFFER_BYTES || nanoTime.getAsLong() - flushedAt >= flushNanos) {
      flush();
    }
  }

  /** Hands waiting lines to the operating system. */
  public synchronized void flush() {
    flushedAt = nanoTime.getAsLong();
    if (buffer.size() == 0) {
      return;
    }
    if (partialLine) {
      removePartialLine();
    }
    try {
      ByteBuffer lines = ByteBuffer.wrap(buffer.toByteArray());
      long at = end;
      while (lines.hasRemaining()) {
        at += channel.write(lines, at);
      }
      end = at;
      written += bufferedLines;
    } catch (IOException failure) {
      lose(bufferedLines, explained("write lines", failure));
      partialLine = true;
      removePartialLine();
    } finally {
      buffer.reset();
      bufferedLines = 0;
    }
  }

  /** Lines in the file since it was opened. */
  public synchronized long written() {
    return written;
  }

  /** Lines that could not be written since the file was opened. */
  public synchronized long lost() {
    return lost;
  }

  /** Writes waiting lines and closes the file. */
  @Override
  public synchronized void close() {
    flush();
    try {
      channel.close();
    } catch (IOException failure) {
      lose(0, explained("close", failure));
    }
  }

  private void lose(long lines, String reason) {
    lost += lines;
    if (!reported) {
      reported = true;
      report.accept(reason + "; training goes on, further losses are only counted");
    }
  }

  /** Cuts off what a failed write left; when that fails too, the next flush tries again. */
  private void removePartialLine() {
    try {
      channel.truncate(end);
      partialLine = false;
    } catch (IOException stuck) {
      lose(0, explained("cut off a partial line", stuck));
    }
  }

  private String explained(String doing, IOException failure) {
    return String.valueOf(DiskFailure.explain(doing, file, failure).getMessage());
  }

  /** Repairs the last line of an existing file and returns where the next one begins. */
  private static long endOfLines(Path file) throws IOException {
    if (!Files.exists(file)) {
      return 0;
    }
    try (FileChannel existing =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      long size = existing.size();
      long lineStart = startOfLastLine(existing, size);
      if (lineStart == size) {
        return size;
      }
      ByteBuffer tail = ByteBuffer.allocate(Math.toIntExact(size - lineStart));
      while (tail.hasRemaining() && existing.read(tail, lineStart + tail.position()) >= 0) {}
      if (isJson(tail.array())) {
        existing.write(ByteBuffer.wrap(new byte[] {'\n'}), size);
        return size + 1;
      }
      existing.truncate(lineStart);
      return lineStart;
    }
  }

  private static long startOfLastLine(FileChannel file, long size) throws IOException {
    ByteBuffer block = ByteBuffer.allocate(BUFFER_BYTES);
    for (long blockEnd = size; blockEnd > 0; ) {
      long blockStart = Math.max(0, blockEnd - BUFFER_BYTES);
      block.clear().limit((int) (blockEnd - blockStart));
      while (block.hasRemaining() && file.read(block, blockStart + block.position()) >= 0) {}
      for (int i = block.position() - 1; i >= 0; i--) {
        if (block.get(i) == '\n') {
          return blockStart + i + 1;
        }
      }
      blockEnd = blockStart;
    }
    return 0;
  }

  private static boolean isJson(byte[] line) {
    try {
      return Json.LINE.readTree(line).isContainerNode();
    } catch (IOException torn) {
      return false;
    }
  }
}
