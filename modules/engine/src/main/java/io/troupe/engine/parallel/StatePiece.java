package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

import java.lang.foreign.MemorySegment;

/**
 * A range of the trainer's flat arrays in host memory: float32 weights and both moments of AdamW.
 *
 * @param from index of the range's first element in the flat arrays
 * @param weights of the range
 * @param first moments of the range
 * @param second moments of the range
 */
public record StatePiece(
    long from, MemorySegment weights, MemorySegment first, MemorySegment second) {
  /** The arrays of a piece, of float32 each. */
  public static final int ARRAYS = 3;

  /** Checks that the arrays are equally long. */
  public StatePiece {
    require(
        weights.byteSize() == first.byteSize()
            && weights.byteSize() == second.byteSize()
            && weights.byteSize() % Float.BYTES == 0,
        "a piece of the state has three arrays of float32 of one length, not %d, %d and %d bytes",
        weights.byteSize(),
        first.byteSize(),
        second.byteSize());
  }

  /** Returns a piece whose arrays lie one after the other in some memory. */
  public static StatePiece in(MemorySegment memory, long from) {
    long bytes = memory.byteSize() / ARRAYS;
    return new StatePiece(
        from,
        memory.asSlice(0, bytes),
        memory.asSlice(bytes, bytes),
        memory.asSlice(2 * bytes, bytes));
  }

  /** Returns the number of elements of the range. */
  public long count() {
    return weights.byteSize() / Float.BYTES;
  }

  /** Returns what this piece has of a range, which is empty where they do not meet. */
  public StatePiece within(long start, long elements) {
    long begin = Math.clamp(start, from, from + count());
    long end = Math.clamp(start + elements, begin, from + count());
    return new StatePiece(
        begin, part(weights, begin, end), part(first, begin, end), part(second, begin, end));
  }

  private MemorySegment part(MemorySegment array, long begin, long end) {
    return array.asSlice((begin - from) * Float.BYTES, (end - begin) * Float.BYTES);
  }

  /** Copies in what another piece has of this range. */
  public void take(StatePiece other) {
    StatePiece shared = other.within(from, count());
    StatePiece own = within(shared.from, shared.count());
    own.weights.copyFrom(shared.weights);
    own.first.copyFrom(shared.first);
    own.second.copyFrom(shared.second);
  }
}
