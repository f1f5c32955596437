package io.troupe.tracking.feed;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** The whole lines of a file that another process appends to, and at times cuts. */
final class GrowingLines {
  private static final int CHUNK = 1 << 16;

  private final Path file;
  private long offset;

  /**
   * The lines behind an offset.
   *
   * @param offset beginning of a line
   */
  GrowingLines(Path file, long offset) {
    this.file = file;
    this.offset = offset;
  }

  /** Behind the last line returned. */
  long offset() {
    return offset;
  }

  /** Reads the file from its beginning. */
  void restart() {
    offset = 0;
  }

  /**
   * Returns lines behind those returned before. If the file was cut before the last of these, it is
   * read from its beginning.
   */
  List<String> next(int most) throws IOException {
    List<String> lines = new ArrayList<>();
    if (!Files.isRegularFile(file)) {
      return lines;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (!isAtLine(channel)) {
        offset = 0;
      }
      channel.position(offset);
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
      while (lines.size() < most && channel.read(chunk) >= 0) {
        chunk.flip();
        while (lines.size() < most && chunk.hasRemaining()) {
          byte next = chunk.get();
          if (next == '\n') {
            offset += line.size() + 1;
            lines.add(line.toString(StandardCharsets.UTF_8));
            line.reset();
          } else {
            line.write(next);
          }
        }
        chunk.clear();
      }
    }
    return lines;
  }

  private boolean isAtLine(FileChannel channel) throws IOException {
    if (offset == 0) {
      return true;
    }
    ByteBuffer before = ByteBuffer.allocate(1);
    return channel.read(before, offset - 1) == 1 && before.get(0) == '\n';
  }
}
