package io.troupe.weights.delta;

import static io.troupe.core.Require.require;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Codes a chunk as what changed since another chunk of the same length, in units of 16 bits.
 *
 * <p>Between two steps at a small learning rate one unit of bfloat16 weights in a hundred changes,
 * nearly always by one in the last place. A delta therefore has four parts:
 *
 * <ol>
 *   <li>the number of changed units, and the number of unchanged units before each (varints, mostly
 *       of one byte);
 *   <li>a bit for each: whether the unit, as a whole number, fell;
 *   <li>the number of exceptions, which are the changes by another number than one, and of each the
 *       number of changes since the exception before and what the difference is beyond one
 *       (zigzag), as varints;
 *   <li>the last byte of an odd length.
 * </ol>
 *
 * <p>A delta does not prove what it makes: it is compared with the chunk's digest afterwards.
 */
public final class ChunkDelta {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

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
    int even = length & ~1;
    int words = even & -Long.BYTES;
    ChangeList changes = new ChangeList(base, chunk, most);
    // Most words of four units are equal, and a comparison of words finds those that are not.
    for (int word = 0; word < words && changes.fits(); word += Long.BYTES) {
      long different = (long) WORD.get(base, word) ^ (long) WORD.get(chunk, word);
      if (different != 0) {
        changes.addWord(word, different);
      }
    }
    for (int unit = words; unit < even; unit += Short.BYTES) {
      if (unit(base, unit) != unit(chunk, unit)) {
        changes.add(unit);
      }
    }
    byte[] last = Arrays.copyOfRange(chunk, even, length);
    return changes.size() + last.length <= most ? changes.delta(last) : new byte[0];
  }

  /** Returns the unsigned number of a unit. */
  private static int unit(byte[] bytes, int at) {
    return (bytes[at] & 0xFF) | (bytes[at + 1] & 0xFF) << Byte.SIZE;
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
    DeltaReader in = new DeltaReader(delta);
    int even = length & ~1;
    int[] changed = units(in, even);
    int bits = 0;
    for (int i = 0; i < changed.length; i++) {
      bits = i % Byte.SIZE == 0 ? in.next() : bits >> 1;
      add(chunk, changed[i], (bits & 1) == 0 ? 1 : -1);
    }
    int exceptions = in.count(changed.length, "exceptions");
    long exception = -1;
    for (int i = 0; i < exceptions; i++) {
      exception += 1 + Integer.toUnsignedLong(in.varint());
      if (exception >= changed.length) {
        throw new DamagedDeltaException(
            "an exception for change %d of %d".formatted(exception, changed.length));
      }
      int coded = in.varint();
      add(chunk, changed[(int) exception], (coded >>> 1) ^ -(coded & 1));
    }
    if (length > even) {
      chunk[even] = in.next();
    }
    in.end();
  }

  /** Reads where the changed units begin. */
  private static int[] units(DeltaReader in, int even) throws DamagedDeltaException {
    int[] changed = new int[in.count(even / Short.BYTES, "changes")];
    long unit = 0;
    for (int i = 0; i < changed.length; i++) {
      unit += Short.BYTES * Integer.toUnsignedLong(in.varint());
      if (unit >= even) {
        throw new DamagedDeltaException("a change at byte %d of %d".formatted(unit, even));
      }
      changed[i] = (int) unit;
      unit += Short.BYTES;
    }
    return changed;
  }

  private static void add(byte[] chunk, int at, int difference) {
    int value = unit(chunk, at) + difference;
    chunk[at] = (byte) value;
    chunk[at + 1] = (byte) (value >>> Byte.SIZE);
  }

  /** The units that differ between a chunk and its base. */
  private static final class ChangeList {
    private final byte[] base;
    private final byte[] chunk;
    private final int most;
    private final ByteList gaps;
    private final ByteList signs;
    private final ByteList exceptions;
    private int count;
    private int exceptionCount;

    /** The unit after the latest change. */
    private int next;

    /** The change after the latest exception. */
    private int nextException;

    ChangeList(byte[] base, byte[] chunk, int most) {
      this.base = base;
      this.chunk = chunk;
      this.most = most;
      gaps = new ByteList();
      signs = new ByteList();
      exceptions = new ByteList();
    }

    boolean fits() {
      return gaps.size() <= most;
    }

    /** Returns the bytes of the delta, without a last byte. */
    int size() {
      return ByteList.sizeOf(count)
          + gaps.size()
          + signs.size()
          + ByteList.sizeOf(exceptionCount)
          + exceptions.size();
    }

    /** Adds the units of a word that differ. */
    void addWord(int word, long different) {
      long left = different;
      while (left != 0) {
        int unit = Long.numberOfTrailingZeros(left) / Short.SIZE;
        add(word + Short.BYTES * unit);
        left &= -1L << (Short.SIZE * unit) << Short.SIZE;
      }
    }

    void add(int unit) {
      int difference = unit(chunk, unit) - unit(base, unit);
      gaps.addVarint((unit - next) / Short.BYTES);
      next = unit + Short.BYTES;
      signs.addBit(count % Byte.SIZE, difference < 0);
      if (Math.abs(difference) != 1) {
        int rest = difference + (difference < 0 ? 1 : -1);
        exceptions.addVarint(count - nextException);
        exceptions.addVarint((rest << 1) ^ (rest >> 31));
        nextException = count + 1;
        exceptionCount++;
      }
      count++;
    }

    byte[] delta(byte[] last) {
      ByteList delta = new ByteList();
      delta.addVarint(count);
      delta.addAll(gaps);
      delta.addAll(signs);
      delta.addVarint(exceptionCount);
      delta.addAll(exceptions);
      for (byte one : last) {
        delta.add(one);
      }
      return delta.toArray();
    }
  }
}
