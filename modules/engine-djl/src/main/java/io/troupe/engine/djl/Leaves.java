package io.troupe.engine.djl;

import java.util.List;

/**
 * The moved weights as the leaves of one step's graph: they share the weights' memory, and take
 * their gradients with them when they are closed, so that between steps no gradient holds memory.
 */
final class Leaves implements AutoCloseable {
  private final List<NativeTensor> tensors;
  private final Moved moved;
  private final Value all;

  private Leaves(List<NativeTensor> tensors, DecoderLayout layout, Value all) {
    this.tensors = tensors;
    this.moved = Moved.of(tensors, layout);
    this.all = all;
  }

  /** Leaves of all weights. */
  static Leaves of(Weights weights) {
    List<NativeTensor> leaves = weights.leaves();
    return new Leaves(leaves, weights.layout(), Value.of(weights.slots(leaves)));
  }

  /** What the step moves, for the optimizer. */
  Moved moved() {
    return moved;
  }

  /** All weights in the program's order. */
  Value all() {
    return all;
  }

  @Override
  public void close() {
    moved.close();
    all.close();
    tensors.forEach(NativeTensor::close);
  }
}
