package io.troupe.engine.toy;

import io.troupe.engine.train.OptimizerSettings;

/**
 * AdamW over one array, as PyTorch defines it: moments and weights are single precision, the
 * arithmetic in between is double.
 */
final class ToyAdamW {
  /** Keeps the clip factor finite, as in PyTorch's clip_grad_norm_. */
  private static final double CLIP_EPSILON = 1e-6;

  private final float[] first;
  private final float[] second;
  private long steps;

  /** Continues from moments, which are handed over, after {@code steps} steps. */
  ToyAdamW(float[] first, float[] second, long steps) {
    this.first = first;
    this.second = second;
    this.steps = steps;
  }

  /** Starts with moments of zero for a number of parameters. */
  static ToyAdamW fresh(int parameters) {
    return new ToyAdamW(new float[parameters], new float[parameters], 0);
  }

  /**
   * Makes one step.
   *
   * @param norm global L2 norm of the gradient
   */
  void move(float[] weights, double[] gradient, double norm, OptimizerSettings o) {
    steps++;
    double t = (double) steps;
    double clip = o.gradientClip() > 0 ? Math.min(1, o.gradientClip() / (norm + CLIP_EPSILON)) : 1;
    double firstCorrection = 1 - Math.pow(o.beta1(), t);
    double secondCorrection = Math.sqrt(1 - Math.pow(o.beta2(), t));
    for (int i = 0; i < weights.length; i++) {
      double g = gradient[i] * clip;
      first[i] = (float) (o.beta1() * first[i] + (1 - o.beta1()) * g);
      second[i] = (float) (o.beta2() * second[i] + (1 - o.beta2()) * g * g);
      double decayed = weights[i] * (1 - o.learningRate() * o.weightDecay());
      double denominator = Math.sqrt(second[i]) / secondCorrection + o.epsilon();
      weights[i] = (float) (decayed - o.learningRate() / firstCorrection * first[i] / denominator);
    }
  }

  float[] first() {
    return first;
  }

  float[] second() {
    return second;
  }

  long steps() {
    return steps;
  }
}
