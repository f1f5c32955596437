package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.TorchValue;
import java.util.ArrayList;
import java.util.List;

/**
 * The trainable weights as the leaves of one step's graph. The leaves share the memory of the
 * weights, and closing them frees their gradients, so that between steps no gradient holds memory.
 */
public final class GradientLeaves implements AutoCloseable {
  private final List<NativeTensor> tensors;
  private final DecoderLayout layout;
  private final TorchValue all;
  private final boolean adapted;

  private GradientLeaves(
      List<NativeTensor> tensors, DecoderLayout layout, TorchValue all, boolean adapted) {
    this.tensors = tensors;
    this.layout = layout;
    this.all = all;
    this.adapted = adapted;
  }

  /** Leaves of all weights. */
  static GradientLeaves of(ModelWeights weights) {
    List<NativeTensor> leaves = weights.leaves();
    return new GradientLeaves(
        leaves, weights.layout(), TorchValue.of(weights.slots(leaves)), false);
  }

  /** Leaves of the adapters of frozen weights. */
  static GradientLeaves of(ModelWeights base, LowRankAdapters adapters) {
    List<NativeTensor> leaves = adapters.weights().leaves();
    List<NativeTensor> all = new ArrayList<>(base.slots());
    NativeTensor output = all.removeLast();
    all.addAll(adapters.weights().slots(leaves));
    all.add(adapters.scale());
    all.add(output);
    return new GradientLeaves(leaves, adapters.weights().layout(), TorchValue.of(all), true);
  }

  /** Returns the trainable tensors for the optimizer; the caller closes them. */
  ParameterGroups trainable(WeightDecay decay) {
    return ParameterGroups.of(tensors, layout, decay);
  }

  /** Returns the gradient of a tensor after a backward pass; the caller closes it. */
  public NativeTensor gradient(int parameter) {
    return tensors.get(parameter).gradient();
  }

  /** All weights in the program's order. */
  TorchValue all() {
    return all;
  }

  /** Whether adapters are among the leaves. */
  boolean adapted() {
    return adapted;
  }

  @Override
  public void close() {
    all.close();
    tensors.forEach(NativeTensor::close);
  }
}
