package io.troupe.engine.djl;

import io.troupe.engine.Optimisation;

/** AdamW's moments and step count beside the weights they move. */
final class AdamW implements AutoCloseable {
  private final Weights first;
  private final Weights second;
  private long steps;

  /** Moments of 0, where the weights are. */
  AdamW(Weights weights) {
    this.first = Weights.zeros(weights.layout(), weights.device());
    this.second = Weights.zeros(weights.layout(), weights.device());
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
    try (Program.Call call = decoder.call("adamw")) {
      double norm =
          call.with(leaves.moved().matrices())
              .with(first.moved().matrices())
              .with(second.moved().matrices())
              .with(leaves.moved().vectors())
              .with(first.moved().vectors())
              .with(second.moved().vectors())
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
    first.close();
    second.close();
  }
}
