package io.troupe.weights.delta;

import static io.troupe.core.Require.require;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

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
  /** Bytes after which the sender decides whether the delta is still shorter. */
  private static final int BLOCK = 1 << 12;

  /** Words that are compared at a time, because most are equal. */
  private static final int GROUP = 4 * Long.BYTES;

  private final int length;
  private final int most;
  private final ChangeList changes = new ChangeList();
  private byte last;

  /**
   * Codes a chunk, of which nothing is known yet.
   *
   * @param most bytes of a delta that is still worth it
   */
  public ChunkDelta(int length, int most) {
    this.length = length;
    this.most = most;
  }

  /**
   * Compares the next part of the chunk with the chunk before.
   *
   * @param base of the chunk before, in the first {@code count} bytes; little-endian
   * @param part of the chunk, in the first {@code count} bytes; little-endian
   * @param from where the part before ended: a multiple of eight
   * @return whether the delta can still be worth it
   */
  public boolean add(ByteBuffer base, ByteBuffer part, int from, int count) {
    require(from % Long.BYTES == 0, "a part begins at a multiple of eight, not at %d", from);
    require(
        base.order() == ByteOrder.LITTLE_ENDIAN && part.order() == ByteOrder.LITTLE_ENDIAN,
        "units are little-endian");
    int even = count & ~1;
    int words = even & -Long.BYTES;
    for (int block = 0; block < words; block += BLOCK) {
      int end = Math.min(words, block + BLOCK);
      int group = block;
      for (; group + GROUP <= end; group += GROUP) {
        if (differ(base, part, group)) {
          addWords(base, part, from, group, group + GROUP);
        }
      }
      addWords(base, part, from, group, end);
      if (changes.gaps.size() > most) {
        return false;
      }
    }
    for (int unit = words; unit < even; unit += Short.BYTES) {
      if (unit(base, unit) != unit(part, unit)) {
        changes.add(from + unit, unit(part, unit) - unit(base, unit));
      }
    }
    if (even < count) {
      last = part.get(even);
    }
    return true;
  }

  private static boolean differ(ByteBuffer base, ByteBuffer part, int at) {
    return ((base.getLong(at) ^ part.getLong(at))
            | (base.getLong(at + Long.BYTES) ^ part.getLong(at + Long.BYTES))
            | (base.getLong(at + 2 * Long.BYTES) ^ part.getLong(at + 2 * Long.BYTES))
            | (base.getLong(at + 3 * Long.BYTES) ^ part.getLong(at + 3 * Long.BYTES)))
        != 0;
  }

  private void addWords(ByteBuffer base, ByteBuffer part, int from, int begin, int end) {
    for (int word = begin; word < end; word += Long.BYTES) {
      long different = base.getLong(word) ^ part.getLong(word);
      if (different != 0) {
        changes.addWord(base, part, from, word, different);
      }
    }
  }

  /** Returns the delta; empty if it takes too much. */
  public byte[] delta() {
    int odd = length % Short.BYTES;
    return changes.size() + odd <= most ? changes.delta(odd, last) : new byte[0];
  }

  /**
   * Codes a chunk.
   *
   * @param base the chunk before, in the first {@code length} bytes
   * @param chunk the chunk, in the first {@code length} bytes
   * @param most bytes of a delta that is still worth it
   * @return the delta; empty if it takes more
   */
  public static byte[] encode(byte[] base, byte[] chunk, int length, int most) {
    ChunkDelta delta = new ChunkDelta(length, most);
    return delta.add(units(base), units(chunk), 0, length) ? delta.delta() : new byte[0];
  }

  private static ByteBuffer units(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the unsigned number of a unit. */
  private static int unit(ByteBuffer bytes, int at) {
    return Short.toUnsignedInt(bytes.getShort(at));
  }

  /**
   * Turns the chunk before into the chunk.
   *
   * @param chunk the chunk before, in the first {@code length} bytes; the chunk afterwards
   * @throws DamagedDeltaException if the delta is none for this length; the chunk is as it was
   */
  public static void apply(byte[] delta, byte[] chunk, int length) throws DamagedDeltaException {
    require(length <= chunk.length, "a chunk of %d bytes in %d", length, chunk.length);
    DeltaChanges.read(delta, length).applyTo(units(chunk), 0, length);
  }

  /** The units that differ between a chunk and its base. */
  private static final class ChangeList {
    private final ByteList gaps = new ByteList();
    private final ByteList signs = new ByteList();
    private final ByteList exceptions = new ByteList();
    private int count;
    private int exceptionCount;

    /** The unit after the latest change. */
    private int next;

    /** The change after the latest exception. */
    private int nextException;

    /** Returns the bytes of the delta, without a last byte. */
    int size() {
      return ByteList.sizeOf(count)
          + gaps.size()
          + signs.size()
          + ByteList.sizeOf(exceptionCount)
          + exceptions.size();
    }

    /** Adds the units of a word that differ; the parts begin at {@code from} of the chunk. */
    void addWord(ByteBuffer base, ByteBuffer part, int from, int word, long different) {
      long left = different;
      while (left != 0) {
        int unit = Long.numberOfTrailingZeros(left) / Short.SIZE;
        int at = word + Short.BYTES * unit;
        add(from + at, unit(part, at) - unit(base, at));
        left &= -1L << (Short.SIZE * unit) << Short.SIZE;
      }
    }

    void add(int unit, int difference) {
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

    byte[] delta(int odd, byte last) {
      ByteList delta = new ByteList();
      delta.addVarint(count);
      delta.addAll(gaps);
      delta.addAll(signs);
      delta.addVarint(exceptionCount);
      delta.addAll(exceptions);
      if (odd > 0) {
        delta.add(last);
      }
      return delta.toArray();
    }
  }
}
