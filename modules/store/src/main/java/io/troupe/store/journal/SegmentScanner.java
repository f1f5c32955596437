package io.troupe.store.journal;

import io.troupe.store.segment.JournalRecord;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentBytes;
import io.troupe.store.segment.SegmentHeader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.OptionalLong;

/** Reads the frames of one segment file, one after the other, also while it grows. */
final class SegmentScanner implements Closeable {
  /** The bytes at the present position. */
  sealed interface Step {
    record Intact(JournalRecord record) implements Step {}

    /** The file ends here, for now. */
    record End() implements Step {}

    /** The next bytes are no whole frame. */
    record Damaged(String reason) implements Step {}
  }

  private static final int WINDOW_BYTES = 1 << 16;

  private final Segment segment;
  private final SegmentHeader header;
  private final SegmentBytes bytes;
  private ByteBuffer window = ByteBuffer.allocate(WINDOW_BYTES).limit(0);
  private long windowStart;
  private long position;

  SegmentScanner(Segment segment, SegmentHeader header) throws IOException {
    this(segment, header, SegmentHeader.BYTES);
  }

  /** A scanner whose first frame begins at an offset. */
  SegmentScanner(Segment segment, SegmentHeader header, long offset) throws IOException {
    this.position = offset;
    this.segment = segment;
    this.header = header;
    this.bytes = SegmentBytes.open(segment.file());
  }

  int number() {
    return segment.number();
  }

  Path file() {
    return segment.file();
  }

  SegmentHeader header() {
    return header;
  }

  /** Offset in the file of the next frame. */
  long position() {
    return position;
  }

  /** Bytes of the file from the present position to its end. */
  long remaining() throws IOException {
    return Math.max(0, bytes.size() - position);
  }

  /** Bytes of the segment, for now. */
  long size() throws IOException {
    return bytes.size();
  }

  /** Reads the next frame and moves behind it when it is intact. */
  Step next() throws IOException {
    Step step = at(position);
    if (step instanceof Step.Intact(JournalRecord record)) {
      position += RecordFrame.bytes(record.payload());
    } else {
      // The writer may be about to complete it: the next look is at the file.
      window.limit(0);
    }
    return step;
  }

  /** Whether the present position holds no whole frame, read from the file once more. */
  boolean damagedOnDisk() throws IOException {
    window.limit(0);
    return at(position) instanceof Step.Damaged;
  }

  /** The offset of the first intact frame behind the present position, if there is one. */
  OptionalLong nextIntact() throws IOException {
    long offset = position + 1;
    while (fill(offset, RecordFrame.HEADER_BYTES)) {
      int distance = distanceToMagic(offset);
      if (at(offset + distance) instanceof Step.Intact) {
        return OptionalLong.of(offset + distance);
      }
      offset += distance + 1;
    }
    return OptionalLong.empty();
  }

  /** Bytes of the window from {@code offset} to the next magic, or to where one may begin. */
  private int distanceToMagic(long offset) {
    int start = (int) (offset - windowStart);
    int last = window.limit() - Integer.BYTES;
    for (int i = start; i <= last; i++) {
      if (window.getInt(i) == RecordFrame.MAGIC) {
        return i - start;
      }
    }
    return last - start;
  }

  private Step at(long offset) throws IOException {
    if (!fill(offset, 1)) {
      return new Step.End();
    }
    if (!fill(offset, RecordFrame.HEADER_BYTES)) {
      return new Step.Damaged("a record's header is cut off");
    }
    int start = (int) (offset - windowStart);
    if (window.getInt(start) != RecordFrame.MAGIC) {
      return new Step.Damaged("no record starts here");
    }
    int length = window.getInt(start + 4);
    if (length < 0 || length > JournalRecord.MAX_PAYLOAD_BYTES) {
      return new Step.Damaged("a record's length (%d bytes) is impossible".formatted(length));
    }
    if (!fill(offset, RecordFrame.HEADER_BYTES + length)) {
      return new Step.Damaged("a record of %d bytes is cut off".formatted(length));
    }
    ByteBuffer frame = window.duplicate().position((int) (offset - windowStart));
    frame.limit(frame.position() + RecordFrame.HEADER_BYTES + length);
    return RecordFrame.intact(header.salt(), frame)
        ? new Step.Intact(RecordFrame.decode(frame))
        : new Step.Damaged("a record of %d bytes has a wrong checksum".formatted(length));
  }

  /** Makes the window hold {@code bytes} bytes from {@code offset}, unless the file ends before. */
  private boolean fill(long offset, int wanted) throws IOException {
    long windowEnd = windowStart + window.limit();
    if (offset >= windowStart && offset + wanted <= windowEnd) {
      return true;
    }
    if (bytes.size() - offset < wanted) {
      return false;
    }
    ByteBuffer next = ByteBuffer.allocate(Math.max(wanted, WINDOW_BYTES));
    if (offset >= windowStart && offset < windowEnd) {
      // Bytes that are there are kept, so that a compressed file is read once, from front to back.
      next.put(window.slice((int) (offset - windowStart), (int) (windowEnd - offset)));
    }
    windowStart = offset;
    bytes.read(next, offset + next.position());
    window = next.flip();
    return window.limit() >= wanted;
  }

  @Override
  public void close() throws IOException {
    bytes.close();
  }
}
