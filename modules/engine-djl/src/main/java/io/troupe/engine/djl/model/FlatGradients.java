package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The gradients of the trained weights, summed over micro-batches: one flat array of float32 in
 * every precision, since a sum of many small numbers in bfloat16 loses the later ones.
 */
public final class FlatGradients implements AutoCloseable {
  private final Decoder decoder;
  private final ModelWeights sums;
  private final TorchValue slots;
  private boolean empty = true;

  /** Whether the elements between the tensors are zeros. */
  private boolean zeroed = true;

  private FlatGradients(Decoder decoder, ModelWeights sums, List<NativeTensor> slots) {
    this.decoder = decoder;
    this.sums = sums;
    this.slots = TorchValue.of(slots);
  }

  /** Creates gradients of all weights. */
  static FlatGradients of(Decoder decoder, FlatLayout trained) {
    ModelWeights sums = ModelWeights.zeros(trained, decoder.device());
    return new FlatGradients(decoder, sums, sums.slots());
  }

  /** Creates gradients of the adapters of frozen weights. */
  static FlatGradients of(Decoder decoder, LowRankAdapters adapters) {
    ModelWeights sums = ModelWeights.zeros(adapters.weights().flatLayout(), decoder.device());
    return new FlatGradients(decoder, sums, adapters.gradientSlots(sums));
  }

  /** Begins a new sum. */
  public void clear() {
    empty = true;
  }

  /** Notes that an exchange wrote into the array, between the tensors as well. */
  public void overwritten() {
    empty = true;
    zeroed = false;
  }

  /** Makes the norm of the gradients NaN, so that no rank makes a step of them. */
  public void refuse() {
    try (NativeTensor staged = NativeTensor.zeros(ElementType.FLOAT32, 1);
        NativeTensor first = flat().slice(0, 1)) {
      staged.memory().set(ValueLayout.JAVA_FLOAT, 0, Float.NaN);
      first.assign(staged, 1);
    }
  }

  /** Adds the gradients of leaves after their backward pass. */
  public void add(GradientLeaves leaves) {
    List<NativeTensor> targets = leaves.parameters().stream().map(sums::tensor).toList();
    if (empty && !(zeroed && targets.size() == sums.tensors().size())) {
      zero();
    }
    try (TorchValue from = TorchValue.of(leaves.tensors());
        TorchValue to = TorchValue.of(targets);
        TorchProgram.Call call = decoder.call("take_gradients")) {
      call.with(from).with(to).with(empty ? 0L : 1L).run();
    }
    empty = false;
  }

  /** The sums in the program's order, for a method that adds to them. */
  public TorchValue slots() {
    if (empty) {
      zero();
    }
    return slots;
  }

  private void zero() {
    try (TorchProgram.Call call = decoder.call("zero")) {
      call.with(sums.flat()).run();
    }
    empty = false;
    zeroed = true;
  }

  /** Returns the flat array of the sums; zeros if nothing was added. */
  public NativeTensor flat() {
    if (empty) {
      zero();
    }
    return sums.flat();
  }

  @Override
  public void close() {
    slots.close();
    sums.close();
  }
}
