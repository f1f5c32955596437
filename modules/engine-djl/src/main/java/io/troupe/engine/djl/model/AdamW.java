package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.train.OptimizerSettings;

/** AdamW's moments and step count for a set of weights. */
public final class AdamW implements AutoCloseable {
  private final ModelWeights first;
  private final ModelWeights second;
  private final WeightDecay decay;
  private final ParameterGroups firstMoments;
  private final ParameterGroups secondMoments;
  private long steps;

  /**
   * Creates moments of 0 on the device of the weights.
   *
   * @throws IllegalArgumentException if {@code decay} names a tensor that is not among the weights
   */
  public AdamW(ModelWeights weights, WeightDecay decay) {
    decay.requireNames(weights.layout());
    this.decay = decay;
    this.first = ModelWeights.zeros(weights.layout(), weights.device());
    this.second = ModelWeights.zeros(weights.layout(), weights.device());
    this.firstMoments = first.moved(decay);
    this.secondMoments = second.moved(decay);
  }

  public ModelWeights first() {
    return first;
  }

  public ModelWeights second() {
    return second;
  }

  /** Returns the number of steps taken: t of the bias corrections. */
  public long steps() {
    return steps;
  }

  public void restoreSteps(long count) {
    steps = count;
  }

  /**
   * Updates the leaves by their gradients, unless the global norm is not finite.
   *
   * @return the global norm before clipping
   */
  public double step(Decoder decoder, GradientLeaves leaves, OptimizerSettings o) {
    long t = steps + 1;
    try (ParameterGroups moved = leaves.trainable(decay);
        TorchProgram.Call call = decoder.call("adamw")) {
      double norm =
          call.with(moved.decaying())
              .with(firstMoments.decaying())
              .with(secondMoments.decaying())
              .with(moved.others())
              .with(firstMoments.others())
              .with(secondMoments.others())
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
    firstMoments.close();
    secondMoments.close();
    first.close();
    second.close();
  }
}
