package io.troupe.engine.djl.model;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The position of each tensor of a layout in one flat array: first the tensors with weight decay,
 * then the others. Each begins at a multiple of {@link #ALIGNMENT} elements, 16 bytes or more in
 * every precision, as vectorised kernels want it; the elements between are zeros and stay so.
 *
 * @param tensors names and shapes
 * @param offsets the first element of each tensor, in their order
 * @param decayed number of elements, from the first on, that weight decay applies to
 * @param size number of elements, padding included
 */
public record FlatLayout(DecoderLayout tensors, List<Long> offsets, long decayed, long size) {
  /** The elements of 16 bytes in bfloat16. */
  public static final int ALIGNMENT = 8;

  /** More than any group of ranks has. */
  private static final int MOST_RANKS = 1024;

  public FlatLayout {
    offsets = List.copyOf(offsets);
  }

  /** Lays tensors out. */
  public static FlatLayout of(DecoderLayout tensors, WeightDecay decay) {
    int count = tensors.parameters().size();
    Long[] offsets = new Long[count];
    long end = 0;
    long border = 0;
    for (int i :
        Stream.concat(of(tensors, decay, true), of(tensors, decay, false))
            .mapToInt(Integer::intValue)
            .toArray()) {
      offsets[i] = end;
      end += Math.ceilDiv(tensors.parameters().get(i).size(), ALIGNMENT) * ALIGNMENT;
      border = decay.actsOn(tensors.parameters().get(i)) ? end : border;
    }
    return new FlatLayout(tensors, List.of(offsets), border, end);
  }

  /**
   * Returns the number of elements to allocate: enough for equal, aligned pieces of any number of
   * ranks.
   */
  public long capacity() {
    return size + (long) MOST_RANKS * ALIGNMENT;
  }

  /** Returns the number of elements of each of a number of equal pieces. */
  public long piece(int ranks) {
    return Math.ceilDiv(size, (long) ranks * ALIGNMENT) * ALIGNMENT;
  }

  /**
   * The part of a tensor that a range of the flat array has.
   *
   * @param tensor index of the parameter
   * @param inTensor the first element within the tensor
   * @param inRange the first element within the range
   * @param count number of elements
   */
  public record Overlap(int tensor, long inTensor, long inRange, long count) {}

  /** Returns what a range of the flat array has of each tensor, in the order of the parameters. */
  public List<Overlap> overlaps(long from, long count) {
    List<Overlap> found = new ArrayList<>();
    for (int i = 0; i < offsets.size(); i++) {
      long start = offsets.get(i);
      long first = Math.max(start, from);
      long held = Math.min(start + tensors.parameters().get(i).size(), from + count) - first;
      if (held > 0) {
        found.add(new Overlap(i, first - start, first - from, held));
      }
    }
    return found;
  }

  private static Stream<Integer> of(DecoderLayout tensors, WeightDecay decay, boolean decays) {
    return IntStream.range(0, tensors.parameters().size())
        .filter(i -> decay.actsOn(tensors.parameters().get(i)) == decays)
        .boxed();
  }
}
