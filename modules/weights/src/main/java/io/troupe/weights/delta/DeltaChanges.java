package io.troupe.weights.delta;

import static io.troupe.core.Require.require;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The changes of a delta, in the order of their places. They are made to one part of a chunk after
 * the other, so that a part is read, changed, hashed and written while the cache of a core holds
 * it.
 */
public final class DeltaChanges {
  private final int length;
  private final int[] units;
  private final int[] differences;
  private final byte last;

  /** The first change that is not made yet. */
  private int next;

  private DeltaChanges(int length, int[] units, int[] differences, byte last) {
    this.length = length;
    this.units = units;
    this.differences = differences;
    this.last = last;
  }

  /**
   * Reads a delta.
   *
   * @param length of the chunk
   * @throws DamagedDeltaException if the delta is none for this length
   */
  public static DeltaChanges read(byte[] delta, int length) throws DamagedDeltaException {
    DeltaReader in = new DeltaReader(delta);
    int even = length & ~1;
    int[] units = units(in, even);
    int[] differences = new int[units.length];
    int bits = 0;
    for (int i = 0; i < units.length; i++) {
      bits = i % Byte.SIZE == 0 ? in.next() : bits >> 1;
      differences[i] = (bits & 1) == 0 ? 1 : -1;
    }
    int exceptions = in.count(units.length, "exceptions");
    long exception = -1;
    for (int i = 0; i < exceptions; i++) {
      exception += 1 + Integer.toUnsignedLong(in.varint());
      if (exception >= units.length) {
        throw new DamagedDeltaException(
            "an exception for change %d of %d".formatted(exception, units.length));
      }
      int coded = in.varint();
      differences[(int) exception] += (coded >>> 1) ^ -(coded & 1);
    }
    byte last = length > even ? in.next() : 0;
    in.end();
    return new DeltaChanges(length, units, differences, last);
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

  /**
   * Changes the next part of the chunk.
   *
   * @param part the bytes of the chunk before from {@code from} on, in the first {@code count}
   *     bytes; little-endian
   * @param from where the part before ended: an even number
   */
  public void applyTo(ByteBuffer part, int from, int count) {
    require(from % Short.BYTES == 0, "a part begins at an even byte, not at %d", from);
    require(part.order() == ByteOrder.LITTLE_ENDIAN, "units are little-endian");
    int end = from + count;
    for (; next < units.length && units[next] < end; next++) {
      int at = units[next] - from;
      part.putShort(at, (short) (part.getShort(at) + differences[next]));
    }
    if (length % Short.BYTES != 0 && end == length) {
      part.put(count - 1, last);
    }
  }
}
