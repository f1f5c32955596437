package io.troupe.engine.djl;

import java.util.ArrayList;
import java.util.List;

/**
 * The moved weights as the leaves of one step's graph: they share the weights' memory, and take
 * their gradients with them when they are closed, so that between steps no gradient holds memory.
 */
final class Leaves implements AutoCloseable {
  private final List<NativeTensor> tensors;
  private final DecoderLayout layout;
  private final Value all;
  private final boolean adapted;

  private Leaves(List<NativeTensor> tensors, DecoderLayout layout, Value all, boolean adapted) {
    this.tensors = tensors;
    this.layout = layout;
    this.all = all;
    this.adapted = adapted;
  }

  /** Leaves of all weights. */
  static Leaves of(Weights weights) {
    List<NativeTensor> leaves = weights.leaves();
    return new Leaves(leaves, weights.layout(), Value.of(weights.slots(leaves)), false);
  }

  /** Leaves of the adapters of frozen weights. */
  static Leaves of(Weights base, Adapters adapters) {
    List<NativeTensor> leaves = adapters.weights().leaves();
    List<NativeTensor> all = new ArrayList<>(base.slots());
    NativeTensor output = all.removeLast();
    all.addAll(adapters.weights().slots(leaves));
    all.add(adapters.scale());
    all.add(output);
    return new Leaves(leaves, adapters.weights().layout(), Value.of(all), true);
  }

  /** What the step moves, for the optimizer; the caller closes it. */
  Moved moved(WeightDecay decay) {
    return Moved.of(tensors, layout, decay);
  }

  /** The gradient of a tensor, after a pass; the caller closes it. */
  NativeTensor gradient(int parameter) {
    return tensors.get(parameter).gradient();
  }

  /** All weights in the program's order. */
  Value all() {
    return all;
  }

  /** Whether adapters are among them. */
  boolean adapted() {
    return adapted;
  }

  @Override
  public void close() {
    all.close();
    tensors.forEach(NativeTensor::close);
  }
}
