package io.troupe.tasks.columns;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.GZIPInputStream;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.brotli.dec.BrotliInputStream;
import org.xerial.snappy.Snappy;

/**
 * Decompresses pages of every codec and compresses by zstd, because the library's own codecs need
 * Hadoop.
 */
final class ParquetCodecs implements CompressionCodecFactory {
  /** Two lengths before each block of Hadoop's LZ4. */
  private static final int FRAME = 8;

  /** Decompresses bytes. */
  private interface Unpack {
    byte[] bytes(byte[] packed, int size) throws IOException;
  }

  /** Whether pages of a codec can be read. */
  static boolean knows(CompressionCodecName codec) {
    return codec != CompressionCodecName.LZO;
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
    return new Decompressor(
        switch (codec) {
          case UNCOMPRESSED -> (packed, _) -> packed;
          case SNAPPY -> (packed, _) -> Snappy.uncompress(packed);
          case ZSTD -> ParquetCodecs::zstd;
          case GZIP -> ParquetCodecs::gzip;
          case BROTLI -> ParquetCodecs::brotli;
          case LZ4_RAW -> ParquetCodecs::lz4;
          case LZ4 -> ParquetCodecs::framedLz4;
          case LZO -> throw new IllegalArgumentException("it is packed by " + codec);
        });
  }

  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName codec) {
    if (codec != CompressionCodecName.ZSTD) {
      throw new UnsupportedOperationException("Parquet is written with ZSTD, not " + codec);
    }
    return new ZstdCompressor();
  }

  @Override
  public void release() {}

  private static byte[] zstd(byte[] packed, int size) throws IOException {
    byte[] bytes = new byte[size];
    long written = Zstd.decompress(bytes, packed);
    if (written != size) {
      throw new IOException("a page unpacks to another size than it says");
    }
    return bytes;
  }

  private static byte[] gzip(byte[] packed, int size) throws IOException {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
      return in.readNBytes(size);
    }
  }

  private static byte[] brotli(byte[] packed, int size) throws IOException {
    try (BrotliInputStream in = new BrotliInputStream(new ByteArrayInputStream(packed))) {
      return in.readNBytes(size);
    }
  }

  private static byte[] lz4(byte[] packed, int size) throws IOException {
    byte[] bytes = new byte[size];
    block(packed, 0, packed.length, bytes, 0, size);
    return bytes;
  }

  private static void block(byte[] packed, int at, int length, byte[] into, int from, int size)
      throws IOException {
    try {
      int written =
          LZ4Factory.fastestInstance()
              .safeDecompressor()
              .decompress(packed, at, length, into, from, size);
      if (written != size) {
        throw new IOException("a page unpacks to another size than it says");
      }
    } catch (LZ4Exception damage) {
      throw new IOException(damage.getMessage(), damage);
    }
  }

  /**
   * The first codec called LZ4: blocks with their sizes in front, as Hadoop writes them, or one
   * block without, as others wrote it.
   */
  private static byte[] framedLz4(byte[] packed, int size) throws IOException {
    byte[] bytes = new byte[size];
    ByteBuffer in = ByteBuffer.wrap(packed);
    int written = 0;
    while (in.remaining() > FRAME) {
      int plain = in.getInt();
      int length = in.getInt();
      if (plain < 0 || plain > size - written || length < 0 || length > in.remaining()) {
        return lz4(packed, size);
      }
      block(packed, in.position(), length, bytes, written, plain);
      in.position(in.position() + length);
      written += plain;
    }
    return written == size ? bytes : lz4(packed, size);
  }

  private static final class ZstdCompressor implements BytesInputCompressor {
    @Override
    public BytesInput compress(BytesInput plain) throws IOException {
      return BytesInput.from(Zstd.compress(plain.toInputStream().readAllBytes()));
    }

    @Override
    public CompressionCodecName getCodecName() {
      return CompressionCodecName.ZSTD;
    }

    @Override
    public void release() {}
  }

  private record Decompressor(Unpack unpack) implements BytesInputDecompressor {
    @Override
    public BytesInput decompress(BytesInput packed, int size) throws IOException {
      return BytesInput.from(unpack.bytes(packed.toInputStream().readAllBytes(), size));
    }

    @Override
    public void decompress(ByteBuffer packed, int packedSize, ByteBuffer unpacked, int size)
        throws IOException {
      byte[] bytes = new byte[packedSize];
      packed.get(bytes);
      unpacked.put(unpack.bytes(bytes, size));
    }

    @Override
    public void release() {}
  }
}
