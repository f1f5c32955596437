package io.troupe.engine.djl.model;

import io.troupe.engine.train.OptimizerSettings;

/** AdamW on all trained weights: its moments and step count. */
public final class AdamW implements AutoCloseable {
  private final ModelWeights first;
  private final ModelWeights second;
  private final AdamWRange range;
  private long steps;

  /**
   * Creates moments of 0 on the device of the weights.
   *
   * @param weights float32
   */
  public AdamW(Decoder decoder, ModelWeights weights) {
    FlatLayout layout = weights.flatLayout();
    this.first = ModelWeights.zeros(layout, weights.device());
    this.second = ModelWeights.zeros(layout, weights.device());
    this.range =
        new AdamWRange(
            decoder, layout.size(), layout.decayed(), weights.flat(), first.flat(), second.flat());
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
   * Updates the weights by their gradients, unless the global norm is not finite.
   *
   * @return the global norm before clipping
   */
  public double step(FlatGradients gradients, OptimizerSettings o) {
    double norm = Math.sqrt(range.squaredNorm(gradients.flat()));
    if (Double.isFinite(norm)) {
      range.step(gradients.flat(), norm, steps + 1, o);
      steps++;
    }
    return norm;
  }

  @Override
  public void close() {
    range.close();
    first.close();
    second.close();
  }
}
