package io.troupe.tasks.columns;

import com.github.luben.zstd.ZstdInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import net.jpountz.lz4.LZ4FrameInputStream;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.RecordBatch;

/** The buffers of a batch, one after the other in the order of the fields, unpacked. */
final class ArrowBuffers {
  private static final int LENGTH_BYTES = 8;
  private static final long NOT_PACKED = -1;

  private final RecordBatch batch;
  private final ByteBuffer body;
  private int nextBuffer;
  private int nextNode;
  private int nextCount;
  private long bytes;

  ArrowBuffers(RecordBatch batch, ByteBuffer body) {
    this.batch = batch;
    this.body = body;
  }

  /** Returns the next buffer. */
  ByteBuffer next() {
    if (nextBuffer >= batch.buffersLength()) {
      throw new IllegalArgumentException("a buffer is missing");
    }
    Buffer described = batch.buffers(nextBuffer++);
    ByteBuffer stored =
        body.slice(Math.toIntExact(described.offset()), Math.toIntExact(described.length()));
    ByteBuffer plain = batch.compression() == null ? stored : unpacked(stored);
    bytes += plain.capacity();
    return plain.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Moves to the next field, and returns the number of its rows. */
  int node() {
    if (nextNode >= batch.nodesLength()) {
      throw new IllegalArgumentException("a column is missing");
    }
    return Math.toIntExact(batch.nodes(nextNode++).length());
  }

  /** Returns how many buffers of data the next column of views has. */
  int count() {
    if (nextCount >= batch.variadicBufferCountsLength()) {
      throw new IllegalArgumentException("a count of buffers is missing");
    }
    return Math.toIntExact(batch.variadicBufferCounts(nextCount++));
  }

  /** Returns the bytes of the buffers so far. */
  long bytes() {
    return bytes;
  }

  private ByteBuffer unpacked(ByteBuffer stored) {
    if (stored.capacity() == 0) {
      return stored;
    }
    long length = stored.order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    ByteBuffer rest = stored.slice(LENGTH_BYTES, stored.capacity() - LENGTH_BYTES);
    if (length == NOT_PACKED) {
      return rest;
    }
    byte[] packed = new byte[rest.capacity()];
    rest.get(packed);
    try (InputStream in = stream(new ByteArrayInputStream(packed))) {
      byte[] plain = in.readNBytes(Math.toIntExact(length)); // grows with what is really there
      if (plain.length != length) {
        throw new IllegalArgumentException("a buffer unpacks to another size than it says");
      }
      return ByteBuffer.wrap(plain);
    } catch (IOException damage) {
      throw new IllegalArgumentException(
          "a buffer cannot be unpacked: " + damage.getMessage(), damage);
    }
  }

  private InputStream stream(InputStream packed) throws IOException {
    return switch (batch.compression().codec()) {
      case CompressionType.LZ4_FRAME -> new LZ4FrameInputStream(packed);
      case CompressionType.ZSTD -> new ZstdInputStream(packed);
      default ->
          throw new IllegalArgumentException(
              "its buffers are packed by the unknown codec " + batch.compression().codec());
    };
  }
}
