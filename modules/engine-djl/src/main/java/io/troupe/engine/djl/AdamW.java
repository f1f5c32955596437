package io.troupe.engine.djl;

import io.troupe.engine.Optimisation;

/** AdamW's moments and step count beside the weights they move. */
final class AdamW implements AutoCloseable {
  private final Weights first;
  private final Weights second;
  private final WeightDecay decay;
  private final Moved firstMoved;
  private final Moved secondMoved;
  private long steps;

  /**
   * Moments of 0, where the weights are.
   *
   * @throws IllegalArgumentException if {@code decay} names a tensor that the weights have not
   */
  AdamW(Weights weights, WeightDecay decay) {
    decay.requireNames(weights.layout());
    this.decay = decay;
    this.first = Weights.zeros(weights.layout(), weights.device());
    this.second = Weights.zeros(weights.layout(), weights.device());
    this.firstMoved = first.moved(decay);
    this.secondMoved = second.moved(decay);
  }

  Weights first() {
    return first;
  }

  Weights second() {
    return second;
  }

  /** Steps taken: t of the bias corrections. */
  long steps() {
    return steps;
  }

  void restoreSteps(long count) {
    steps = count;
  }

  /**
   * Moves the leaves along their gradients, unless the global norm is not finite.
   *
   * @return the global norm before clipping
   */
  double step(Decoder decoder, Leaves leaves, Optimisation o) {
    long t = steps + 1;
    try (Moved moved = leaves.moved(decay);
        Program.Call call = decoder.call("adamw")) {
      double norm =
          call.with(moved.decaying())
              .with(firstMoved.decaying())
              .with(secondMoved.decaying())
              .with(moved.others())
              .with(firstMoved.others())
              .with(secondMoved.others())
              .with(o.gradientClip())
              .with(o.learningRate())
              .with(o.beta1())
              .with(o.beta2())
              .with(o.epsilon())
              .with(o.weightDecay())
              .with(t)
              .numbers()[0];
      if (Double.isFinite(norm)) {
        steps = t;
      }
      return norm;
    }
  }

  @Override
  public void close() {
    firstMoved.close();
    secondMoved.close();
    first.close();
    second.close();
  }
}
