package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.TorchValue;
import java.util.List;
import java.util.stream.IntStream;

/** The parameter groups of the optimizer: tensors with weight decay, and tensors without. */
record ParameterGroups(TorchValue decaying, TorchValue others) implements AutoCloseable {
  static ParameterGroups of(List<NativeTensor> tensors, DecoderLayout layout, WeightDecay decay) {
    return new ParameterGroups(
        part(true, tensors, layout, decay), part(false, tensors, layout, decay));
  }

  private static TorchValue part(
      boolean decays, List<NativeTensor> tensors, DecoderLayout layout, WeightDecay decay) {
    return TorchValue.of(
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
