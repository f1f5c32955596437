package io.troupe.store.journal;

import io.troupe.base.files.DurableFiles;
import io.troupe.store.file.ChannelOpener;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentHeader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/** Appends to one segment file, which it has made. */
final class SegmentWriter implements Closeable {
  /** The JDK copies a heap buffer to a direct one as large as the write, and keeps that. */
  private static final int LARGEST_WRITE = 1 << 20;

  private final Segment segment;
  private final SegmentHeader header;
  private final FileChannel channel;
  private long bytes;

  private SegmentWriter(Segment segment, SegmentHeader header, FileChannel channel) {
    this.segment = segment;
    this.header = header;
    this.channel = channel;
  }

  /**
   * Makes a segment; durable when it returns.
   *
   * @throws java.nio.file.FileAlreadyExistsException if another writer made it first
   */
  static SegmentWriter create(Segment segment, SegmentHeader header, ChannelOpener opener)
      throws IOException {
    FileChannel channel =
        opener.open(segment.file(), StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND);
    SegmentWriter writer = new SegmentWriter(segment, header, channel);
    try {
      writer.write(header.encode());
      writer.sync();
      DurableFiles.syncFolder(DurableFiles.parent(segment.file()));
      return writer;
    } catch (IOException failure) {
      channel.close();
      Files.deleteIfExists(segment.file());
      throw failure;
    }
  }

  Segment segment() {
    return segment;
  }

  long salt() {
    return header.salt();
  }

  long bytes() {
    return bytes;
  }

  void write(ByteBuffer frames) throws IOException {
    int end = frames.limit();
    while (frames.position() < end) {
      frames.limit(Math.min(end, frames.position() + LARGEST_WRITE));
      bytes += channel.write(frames);
    }
  }

  void sync() throws IOException {
    channel.force(false);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
