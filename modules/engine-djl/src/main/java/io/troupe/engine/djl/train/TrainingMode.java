package io.troupe.engine.djl.train;

import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.model.WeightDecay;

/**
 * How a trainer trains.
 *
 * @param tuning which numbers move
 * @param activations what becomes of a forward pass until its backward pass
 * @param decay which tensors weight decay acts on
 */
public record TrainingMode(Tuning tuning, Activations activations, WeightDecay decay) {
  /** What becomes of a forward pass until its backward pass; it does not change the result. */
  public enum Activations {
    /** Everything stays. */
    KEPT,
    /**
     * Only the inputs of layers stay; each layer is computed a second time on the way back (Chen et
     * al. 2016). About a third more work, and memory for one layer instead of all.
     */
    RECOMPUTED
  }

  /** Weight decay acts on all matrices. */
  public TrainingMode(Tuning tuning, Activations activations) {
    this(tuning, activations, WeightDecay.MATRICES);
  }

  /** All weights move, activations stay. */
  public static TrainingMode full() {
    return new TrainingMode(new Tuning.Full(), Activations.KEPT);
  }

  /** The same with another choice of what decays. */
  public TrainingMode with(WeightDecay other) {
    return new TrainingMode(tuning, activations, other);
  }
}
