package io.troupe.engine.djl.model;

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

  private static Stream<Integer> of(DecoderLayout tensors, WeightDecay decay, boolean decays) {
    return IntStream.range(0, tensors.parameters().size())
        .filter(i -> decay.actsOn(tensors.parameters().get(i)) == decays)
        .boxed();
  }
}
