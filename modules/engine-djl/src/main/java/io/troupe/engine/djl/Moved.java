package io.troupe.engine.djl;

import java.util.List;
import java.util.stream.IntStream;

/** Tensors as the optimizer takes them: matrices, which decay, and vectors, which do not. */
record Moved(Value matrices, Value vectors) implements AutoCloseable {
  static Moved of(List<NativeTensor> tensors, DecoderLayout layout) {
    return new Moved(ofRank(2, tensors, layout), ofRank(1, tensors, layout));
  }

  private static Value ofRank(int rank, List<NativeTensor> tensors, DecoderLayout layout) {
    return Value.of(
        IntStream.range(0, tensors.size())
            .filter(i -> layout.parameters().get(i).shape().size() == rank)
            .mapToObj(tensors::get)
            .toList());
  }

  @Override
  public void close() {
    matrices.close();
    vectors.close();
  }
}
