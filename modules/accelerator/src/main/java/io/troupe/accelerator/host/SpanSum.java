package io.troupe.accelerator.host;

import static io.troupe.core.Require.require;

import io.troupe.engine.parallel.Span;
import io.troupe.engine.safetensors.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Sums of elements in the host's memory, added up in float32, or in float64 where they are so. */
final class SpanSum {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
  private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
  private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
  private static final int HALF = Float.SIZE - Short.SIZE;

  private SpanSum() {}

  /** Refuses elements that have no sum, and spans that do not match. */
  static void requirePieces(Span all, Span piece, int ranks, boolean summed) {
    require(
        all.element() == piece.element(),
        "a piece of %s of a span of %s",
        piece.element(),
        all.element());
    require(
        piece.bytes() * ranks == all.bytes(),
        "a piece of %d bytes for %d ranks of a span of %d",
        piece.bytes(),
        ranks,
        all.bytes());
    if (summed) {
      requireSummable(all);
    }
  }

  static void requireSummable(Span span) {
    require(span.element() != Span.Element.U8, "bytes have no sum");
  }

  /**
   * Sums blocks of the same length, in order.
   *
   * @param from the first block
   * @param stride bytes from one block to the next
   * @param to gets the sums
   */
  static void sum(
      Span.Element element, MemorySegment from, long stride, int blocks, MemorySegment to) {
    long bytes = to.byteSize();
    switch (element) {
      case F32 -> {
        for (long i = 0; i < bytes; i += Float.BYTES) {
          float sum = 0;
          for (int b = 0; b < blocks; b++) {
            sum += from.get(FLOAT, b * stride + i);
          }
          to.set(FLOAT, i, sum);
        }
      }
      case F64 -> {
        for (long i = 0; i < bytes; i += Double.BYTES) {
          double sum = 0;
          for (int b = 0; b < blocks; b++) {
            sum += from.get(DOUBLE, b * stride + i);
          }
          to.set(DOUBLE, i, sum);
        }
      }
      case BF16 -> {
        for (long i = 0; i < bytes; i += Short.BYTES) {
          float sum = 0;
          for (int b = 0; b < blocks; b++) {
            sum += widen(from.get(SHORT, b * stride + i));
          }
          to.set(SHORT, i, DType.bfloat16(sum));
        }
      }
      case U8 -> throw new IllegalArgumentException("bytes have no sum");
    }
  }

  /** Adds elements to as many others. */
  static void add(Span.Element element, MemorySegment from, MemorySegment to) {
    long bytes = to.byteSize();
    switch (element) {
      case F32 -> {
        for (long i = 0; i < bytes; i += Float.BYTES) {
          to.set(FLOAT, i, to.get(FLOAT, i) + from.get(FLOAT, i));
        }
      }
      case F64 -> {
        for (long i = 0; i < bytes; i += Double.BYTES) {
          to.set(DOUBLE, i, to.get(DOUBLE, i) + from.get(DOUBLE, i));
        }
      }
      case BF16 -> {
        for (long i = 0; i < bytes; i += Short.BYTES) {
          to.set(SHORT, i, DType.bfloat16(widen(to.get(SHORT, i)) + widen(from.get(SHORT, i))));
        }
      }
      case U8 -> throw new IllegalArgumentException("bytes have no sum");
    }
  }

  private static float widen(short bits) {
    return Float.intBitsToFloat(bits << HALF);
  }
}
