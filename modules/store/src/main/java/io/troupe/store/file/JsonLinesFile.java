package io.troupe.store.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A file of JSON objects, one a line, that grows: telemetry. Safe for use by several threads.
 *
 * <p>Telemetry never stops training: a line that cannot be written is counted, the first such
 * failure of an outage is reported, and later lines are tried again, so that a disk that was full
 * for a while costs lines and nothing else; the end of the outage is reported with their number. A
 * line is in the file whole or not at all, except for the last one after a crash: opening the file
 * ends that line when it is whole JSON and cuts it off otherwise. Lines are not fsynced.
 *
 * <p>A file may be bounded: when it has reached half of that it becomes {@code NAME.1.jsonl}, in
 * the place of the one before, and a new one begins. So the newest half at least is always there.
 */
public final class JsonLinesFile implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final long UNBOUNDED = 0;

  /** A disk at its edge refuses some lines and takes others, many times a second. */
  private static final long REPORT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Path file;
  private final ChannelOpener opener;
  private final long rotateAt;
  private final long flushNanos;
  private final LongSupplier nanoTime;
  private final Consumer<String> report;
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream();
  private FileChannel channel;
  private long end;
  private long bufferedLines;
  private long flushedAt;
  private long written;
  private long lost;
  private long lostByDisk;
  private boolean partialLine;
  private boolean diskReported;
  private long reportedAt;
  private boolean objectReported;

  private JsonLinesFile(
      Path file,
      FileChannel channel,
      ChannelOpener opener,
      long rotateAt,
      long flushNanos,
      LongSupplier nanoTime,
      Consumer<String> report,
      long end) {
    this.file = file;
    this.channel = channel;
    this.opener = opener;
    this.rotateAt = rotateAt;
    this.flushNanos = flushNanos;
    this.nanoTime = nanoTime;
    this.report = report;
    this.end = end;
    this.flushedAt = nanoTime.getAsLong();
    this.reportedAt = flushedAt - REPORT_NANOS; // The first outage is reported.
  }

  /**
   * Opens a file for appending, making it if there is none.
   *
   * @param flushEvery zero writes every line at once; otherwise a line may wait in memory for that
   *     long, and is lost by a crash until then. A rare writer calls {@link #flush}
   * @param report takes one sentence when lines begin to be lost, and one when that ends; of
   *     outages that follow within a minute only the lines are counted
   */
  public static JsonLinesFile open(Path file, Duration flushEvery, Consumer<String> report)
      throws IOException {
    return open(file, UNBOUNDED, flushEvery, report);
  }

  /**
   * Opens a file as {@link #open(Path, Duration, Consumer)} does, with a bound.
   *
   * @param keepBytes of this file and the one before it; 0 keeps all
   */
  public static JsonLinesFile open(
      Path file, long keepBytes, Duration flushEvery, Consumer<String> report) throws IOException {
    return open(file, keepBytes, flushEvery, report, System::nanoTime, FileChannel::open);
  }

  /** Returns the file before this one, if it was rotated; it may not be there. */
  public static Path previous(Path file) {
    String name = String.valueOf(file.getFileName());
    int ending = name.lastIndexOf('.');
    return file.resolveSibling(name.substring(0, ending) + ".1" + name.substring(ending));
  }

  static JsonLinesFile open(
      Path file,
      Duration flushEvery,
      Consumer<String> report,
      LongSupplier nanoTime,
      ChannelOpener opener)
      throws IOException {
    return open(file, UNBOUNDED, flushEvery, report, nanoTime, opener);
  }

  static JsonLinesFile open(
      Path file,
      long keepBytes,
      Duration flushEvery,
      Consumer<String> report,
      LongSupplier nanoTime,
      ChannelOpener opener)
      throws IOException {
    try {
      long end = endOfLines(file);
      FileChannel channel = channel(file, opener);
      long rotateAt = keepBytes == UNBOUNDED ? Long.MAX_VALUE : Math.max(1, keepBytes / 2);
      return new JsonLinesFile(
          file, channel, opener, rotateAt, flushEvery.toNanos(), nanoTime, report, end);
    } catch (IOException failure) {
      throw DiskFailureException.explain("open for appending lines", file, failure);
    }
  }

  private static FileChannel channel(Path file, ChannelOpener opener) throws IOException {
    return opener.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /**
   * Cuts off what is behind the last line whose number is not too great, after the repair of the
   * last line as at opening.
   *
   * @param number key of a whole number in every line
   * @param greatest of those that stay
   * @return the number of the line that is the last now; absent when no line is left
   */
  public static OptionalLong cut(Path file, String number, long greatest) throws IOException {
    try {
      long size = endOfLines(file);
      if (size == 0) {
        return OptionalLong.empty();
      }
      OptionalLong last = OptionalLong.empty();
      long end = 0;
      long at = 0;
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0; next = in.read()) {
          at++;
          if (next != '\n') {
            line.write(next);
            continue;
          }
          OptionalLong found = number(line.toByteArray(), number);
          if (found.isPresent() && found.getAsLong() <= greatest) {
            last = found;
            end = at;
          }
          line.reset();
        }
      }
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(end);
      }
      return last;
    } catch (IOException failure) {
      throw DiskFailureException.explain("cut off lines", file, failure);
    }
  }

  private static OptionalLong number(byte[] line, String key) {
    try {
      JsonNode value = StoreJson.LINE.readTree(line).path(key);
      return value.isIntegralNumber() ? OptionalLong.of(value.longValue()) : OptionalLong.empty();
    } catch (IOException damaged) {
      return OptionalLong.empty(); // As a power loss leaves it.
    }
  }

  /** Appends an object as one line; never throws because of the object or the disk. */
  public void write(Object object) {
    try {
      append(encode(object));
    } catch (JsonProcessingException unwritable) {
      refuse(object, unwritable);
    }
  }

  /** An object as the line that it becomes. */
  static byte[] encode(Object object) throws JsonProcessingException {
    return StoreJson.LINE.writeValueAsBytes(object);
  }

  /** Counts an object that is no JSON as lost. */
  synchronized void refuse(Object object, JsonProcessingException unwritable) {
    lost++;
    if (!objectReported) {
      objectReported = true;
      report.accept(
          "cannot write a %s as JSON to %s: %s; training continues without such lines"
              .formatted(object.getClass().getSimpleName(), file, unwritable.getOriginalMessage()));
    }
  }

  /** Appends an encoded line. */
  synchronized void append(byte[] line) {
    buffer.writeBytes(line);
    buffer.write('\n');
    bufferedLines++;
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
      reportRecovery();
      if (end >= rotateAt) {
        rotate();
      }
    } catch (IOException failure) {
      diskFailed(bufferedLines, "write lines", failure);
      partialLine = true;
      removePartialLine();
    } finally {
      buffer.reset();
      bufferedLines = 0;
    }
  }

  /**
   * Rotates the file; if it cannot be renamed, or no new one can be made, it continues to grow, and
   * the next flush tries again.
   */
  private void rotate() {
    try {
      if (Files.exists(file)) { // An attempt may have ended between the two steps.
        Files.move(file, previous(file), StandardCopyOption.ATOMIC_MOVE);
      }
      FileChannel old = channel;
      channel = channel(file, opener);
      end = 0;
      old.close();
    } catch (IOException failure) {
      diskFailed(0, "begin the next file", failure);
    }
  }

  /** Lines written since it was opened. */
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
      diskFailed(0, "close", failure);
    }
    if (lostByDisk > 0) {
      report.accept("%s lacks %,d lines that could not be written".formatted(file, lostByDisk));
    }
  }

  private void diskFailed(long lines, String doing, IOException failure) {
    lost += lines;
    lostByDisk += lines;
    long now = nanoTime.getAsLong();
    if (!diskReported && now - reportedAt >= REPORT_NANOS) {
      diskReported = true;
      reportedAt = now;
      report.accept(
          DiskFailureException.withoutResume(doing, file, failure)
              + "; training continues, and the file is tried again");
    }
  }

  private void reportRecovery() {
    if (diskReported && lostByDisk > 0) {
      report.accept(
          "%s is written again; it lacks %,d lines that could not be written"
              .formatted(file, lostByDisk));
      lostByDisk = 0;
    }
    diskReported = false;
  }

  /** Cuts off what a failed write left; when that fails too, the next flush tries again. */
  private void removePartialLine() {
    try {
      channel.truncate(end);
      partialLine = false;
    } catch (IOException stuck) {
      diskFailed(0, "cut off a partial line", stuck);
    }
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
      return StoreJson.LINE.readTree(line).isContainerNode();
    } catch (IOException torn) {
      return false;
    }
  }
}
