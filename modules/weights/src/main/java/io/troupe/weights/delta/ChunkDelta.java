package io.troupe.weights.delta;

import static io.troupe.core.Require.require;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Codes a chunk as what changed since another chunk of the same length, in units of 16 bits.
 *
 * <p>Between two steps at a small learning rate one unit of bfloat16 weights in a hundred changes,
 * most by one in the last place. So a delta is a list of changed units: the number of unchanged
 * ones before each (a varint, mostly one byte), and after all of these the difference of each as a
 * whole number (zigzag, mostly one byte). Both lists are deflated where that makes them smaller. A
 * last byte of an odd length is always in the delta.
 *
 * <p>A delta does not prove what it makes: it is compared with the chunk's digest afterwards.
 */
public final class ChunkDelta {
  private static final byte PLAIN = 0;
  private static final byte DEFLATED = 1;

  /** Of its kind, and of the length before deflation. */
  private static final int HEADER = 1 + Integer.BYTES;

  private static final int SEVEN_BITS = 0x7F;
  private static final int MORE = 0x80;
  private static final int MOST_VARINT = 5;

  private ChunkDelta() {}

  /**
   * Codes a chunk.
   *
   * @param base the chunk before, in the first {@code length} bytes
   * @param chunk the chunk, in the first {@code length} bytes
   * @param most bytes of a delta that is still worth it
   * @return the delta; empty if it takes more
   */
  public static byte[] encode(byte[] base, byte[] chunk, int length, int most) {
    ByteList gaps = new ByteList(most);
    ByteList differences = new ByteList(most);
    int even = length & ~1;
    int unit = 0;
    int count = 0;
    while (unit < even) {
      int same = Arrays.mismatch(base, unit, even, chunk, unit, even);
      if (same < 0) {
        break;
      }
      int changed = (unit + same) & ~1;
      gaps.varint((changed - unit) >>> 1);
      int difference = (short) (unit(chunk, changed) - unit(base, changed));
      differences.varint((difference << 1) ^ (difference >> 31));
      count++;
      unit = changed + 2;
      if (gaps.size + differences.size > 2L * most) {
        return new byte[0]; // deflation halves at best
      }
    }
    ByteList all = new ByteList(gaps.size + differences.size + 2 * MOST_VARINT);
    all.varint(count);
    all.bytes(gaps);
    all.bytes(differences);
    if (length > even) {
      all.add(chunk[even]);
    }
    byte[] delta = smallest(all);
    return delta.length <= most ? delta : new byte[0];
  }

  private static int unit(byte[] bytes, int at) {
    return (bytes[at] & 0xFF) | (bytes[at + 1] << Byte.SIZE);
  }

  private static byte[] smallest(ByteList plain) {
    byte[] deflated = new byte[HEADER + plain.size];
    try (Deflater deflater = new Deflater(Deflater.BEST_SPEED, true)) {
      deflater.setInput(plain.bytes, 0, plain.size);
      deflater.finish();
      int size = deflater.deflate(deflated, HEADER, deflated.length - HEADER);
      boolean smaller = deflater.finished() && size < plain.size;
      byte[] delta =
          smaller ? Arrays.copyOf(deflated, HEADER + size) : new byte[HEADER + plain.size];
      if (!smaller) {
        System.arraycopy(plain.bytes, 0, delta, HEADER, plain.size);
      }
      delta[0] = smaller ? DEFLATED : PLAIN;
      for (int i = 0; i < Integer.BYTES; i++) {
        delta[1 + i] = (byte) (plain.size >>> (Byte.SIZE * i));
      }
      return delta;
    }
  }

  /**
   * Turns the chunk before into the chunk.
   *
   * @param chunk the chunk before, in the first {@code length} bytes; the chunk afterwards, and
   *     undefined after an exception
   * @throws DamagedDeltaException if the delta is none for this length
   */
  public static void apply(byte[] delta, byte[] chunk, int length) throws DamagedDeltaException {
    require(length <= chunk.length, "a chunk of %d bytes in %d", length, chunk.length);
    Cursor in = new Cursor(plain(delta, length));
    int even = length & ~1;
    int count = in.varint();
    if (count < 0 || count > even / 2) {
      throw new DamagedDeltaException("%d changes in %d bytes".formatted(count, length));
    }
    int[] changed = new int[count];
    long unit = 0;
    for (int i = 0; i < count; i++) {
      unit += 2L * Integer.toUnsignedLong(in.varint());
      if (unit >= even) {
        throw new DamagedDeltaException("a change at byte %d of %d".formatted(unit, length));
      }
      changed[i] = (int) unit;
      unit += 2;
    }
    for (int at : changed) {
      int coded = in.varint();
      int value = unit(chunk, at) + ((coded >>> 1) ^ -(coded & 1));
      chunk[at] = (byte) value;
      chunk[at + 1] = (byte) (value >>> Byte.SIZE);
    }
    if (length > even) {
      chunk[even] = in.next();
    }
    if (in.at != in.bytes.length) {
      throw new DamagedDeltaException("%d bytes too many".formatted(in.bytes.length - in.at));
    }
  }

  private static byte[] plain(byte[] delta, int length) throws DamagedDeltaException {
    if (delta.length < HEADER || delta[0] < PLAIN || delta[0] > DEFLATED) {
      throw new DamagedDeltaException("not the beginning of a delta");
    }
    int size = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      size |= (delta[1 + i] & 0xFF) << (Byte.SIZE * i);
    }
    // Each change takes two varints at most, so a larger size is damage and not to be allocated.
    if (size < 0 || size > MOST_VARINT * (long) (length + 2)) {
      throw new DamagedDeltaException("%d bytes of changes in %d".formatted(size, length));
    }
    if (delta[0] == PLAIN) {
      if (size != delta.length - HEADER) {
        throw new DamagedDeltaException("%d bytes, not %d".formatted(delta.length - HEADER, size));
      }
      return Arrays.copyOfRange(delta, HEADER, delta.length);
    }
    byte[] plain = new byte[size];
    try (Inflater inflater = new Inflater(true)) {
      inflater.setInput(delta, HEADER, delta.length - HEADER);
      int done = 0;
      while (done < size) {
        int read = inflater.inflate(plain, done, size - done);
        if (read == 0) {
          throw new DamagedDeltaException("ends after %d of %d bytes".formatted(done, size));
        }
        done += read;
      }
      return plain;
    } catch (DataFormatException damaged) {
      throw new DamagedDeltaException("not deflated: " + damaged.getMessage());
    }
  }

  /** Bytes that are read from the first on. */
  private static final class Cursor {
    private final byte[] bytes;
    private int at;

    Cursor(byte[] bytes) {
      this.bytes = bytes;
    }

    byte next() throws DamagedDeltaException {
      if (at == bytes.length) {
        throw new DamagedDeltaException("ends after %d bytes".formatted(at));
      }
      return bytes[at++];
    }

    int varint() throws DamagedDeltaException {
      int value = 0;
      for (int i = 0; i < MOST_VARINT; i++) {
        byte part = next();
        value |= (part & SEVEN_BITS) << (7 * i);
        if ((part & MORE) == 0) {
          return value;
        }
      }
      throw new DamagedDeltaException("a number of more than %d bytes".formatted(MOST_VARINT));
    }
  }

  /** Bytes that are added at the end. */
  private static final class ByteList {
    private byte[] bytes;
    private int size;

    ByteList(int capacity) {
      bytes = new byte[Math.max(64, capacity)];
    }

    void add(byte one) {
      if (size == bytes.length) {
        bytes = Arrays.copyOf(bytes, 2 * size);
      }
      bytes[size++] = one;
    }

    void varint(int value) {
      int left = value;
      while ((left & ~SEVEN_BITS) != 0) {
        add((byte) ((left & SEVEN_BITS) | MORE));
        left >>>= 7;
      }
      add((byte) left);
    }

    void bytes(ByteList others) {
      if (size + others.size > bytes.length) {
        bytes = Arrays.copyOf(bytes, 2 * (size + others.size));
      }
      System.arraycopy(others.bytes, 0, bytes, size, others.size);
      size += others.size;
    }
  }
}
