package io.troupe.store.segment;

import io.troupe.store.file.JournalException;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** The bytes of a segment as they were written, whether its file is compressed or not. */
public sealed interface SegmentBytes extends Closeable {
  /** Opens a segment file of either form. */
  static SegmentBytes open(Path file) throws IOException {
    return Segment.isCompressed(file) ? Compressed.open(file) : Plain.open(file);
  }

  /** Returns the number of bytes, for now. */
  long size() throws IOException;

  /** Fills a buffer from an offset on, as far as there are bytes. */
  void read(ByteBuffer into, long offset) throws IOException;

  /** A file that may grow. */
  record Plain(FileChannel channel) implements SegmentBytes {
    static Plain open(Path file) throws IOException {
      return new Plain(FileChannel.open(file, StandardOpenOption.READ));
    }

    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public void read(ByteBuffer into, long offset) throws IOException {
      long at = offset;
      while (into.hasRemaining()) {
        int read = channel.read(into, at);
        if (read < 0) {
          return;
        }
        at += read;
      }
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /** A gzip file, read forwards; reading backwards begins again at its start. */
  final class Compressed implements SegmentBytes {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int TRAILER_BYTES = 8;
    private final Path file;
    private final long size;
    private InputStream stream;
    private long position;

    private Compressed(Path file, long size, InputStream stream) {
      this.file = file;
      this.size = size;
      this.stream = stream;
    }

    static Compressed open(Path file) throws IOException {
      return new Compressed(file, size(file), inflate(file));
    }

    private static InputStream inflate(Path file) throws IOException {
      InputStream raw = Files.newInputStream(file);
      try {
        return new GZIPInputStream(raw, BUFFER_BYTES);
      } catch (ZipException | EOFException damaged) {
        raw.close();
        throw damaged(file, damaged);
      } catch (IOException failure) {
        raw.close();
        throw failure;
      }
    }

    /** A gzip file ends with the size of its content. */
    private static long size(Path file) throws IOException {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        if (channel.size() < TRAILER_BYTES) {
          throw damaged(file, new EOFException("it ends in its header"));
        }
        ByteBuffer trailer = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        new Plain(channel).read(trailer, channel.size() - Integer.BYTES);
        return Integer.toUnsignedLong(trailer.getInt(0));
      }
    }

    @Override
    public long size() {
      return size;
    }

    @Override
    public void read(ByteBuffer into, long offset) throws IOException {
      if (offset < position) {
        stream.close();
        stream = inflate(file);
        position = 0;
      }
      try {
        stream.skipNBytes(offset - position);
        position = offset;
        int wanted = (int) Math.min(into.remaining(), Math.max(0, size - offset));
        int read = stream.readNBytes(into.array(), into.arrayOffset() + into.position(), wanted);
        position += read;
        into.position(into.position() + read);
        if (read < wanted) {
          throw damaged(file, new EOFException("it ends early"));
        }
      } catch (ZipException | EOFException broken) {
        throw damaged(file, broken);
      }
    }

    private static JournalException.Corrupt damaged(Path file, IOException cause) {
      return new JournalException.Corrupt(
          ("the journal is damaged: the compressed segment %s cannot be read (%s). Nothing was"
                  + " changed. Restore the file from a copy; a resume does not need it")
              .formatted(file.toAbsolutePath().normalize(), cause.getMessage()));
    }

    @Override
    public void close() throws IOException {
      stream.close();
    }
  }
}
