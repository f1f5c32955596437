package io.troupe.tasks.rows;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.GZIPInputStream;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/** Decompresses pages, because the library's own codecs need Hadoop. */
final class ParquetCodecs implements CompressionCodecFactory {
  /** Decompresses bytes. */
  private interface Unpack {
    byte[] bytes(byte[] packed, int size) throws IOException;
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
    return new Decompressor(
        switch (codec) {
          case UNCOMPRESSED -> (packed, _) -> packed;
          case SNAPPY -> (packed, _) -> Snappy.uncompress(packed);
          case ZSTD -> ParquetCodecs::zstd;
          case GZIP -> ParquetCodecs::gzip;
          case LZO, BROTLI, LZ4, LZ4_RAW ->
              throw new IllegalArgumentException("it is packed by " + codec);
        });
  }

  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName codec) {
    throw new UnsupportedOperationException("Parquet is only read");
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
