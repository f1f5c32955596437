package io.troupe.engine.djl;

import java.util.List;
import java.util.stream.IntStream;

/** Tensors as the optimizer takes them: those that decay, and those that do not. */
record Moved(Value decaying, Value others) implements AutoCloseable {
  static Moved of(List<NativeTensor> tensors, DecoderLayout layout, WeightDecay decay) {
    return new Moved(part(true, tensors, layout, decay), part(false, tensors, layout, decay));
  }

  private static Value part(
      boolean decays, List<NativeTensor> tensors, DecoderLayout layout, WeightDecay decay) {
    return Value.of(
        IntStream.range(0, tensors.size())
            .filter(i -> decay.actsOn(layout.parameters().get(i)) == decays)
            .mapToObj(tensors::get)
            .toList());
  }

  @Override
  public void close() {
    decaying.close();
    others.close();
  }
}
