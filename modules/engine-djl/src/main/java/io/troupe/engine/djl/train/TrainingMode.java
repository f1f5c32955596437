package io.troupe.engine.djl.train;

import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.model.WeightDecay;

/**
 * The settings of a trainer's steps.
 *
 * @param tuning the weights that training updates
 * @param activations activations that the forward pass keeps for the backward pass
 * @param decay the tensors that weight decay applies to
 */
public record TrainingMode(Tuning tuning, Activations activations, WeightDecay decay) {
  /**
   * The activations that the forward pass keeps for the backward pass; the choice does not change
   * the result.
   */
  public enum Activations {
    /** The forward pass keeps all activations. */
    KEPT,
    /**
     * Activation checkpointing: the forward pass keeps only the inputs of layers, and the backward
     * pass computes each layer again (Chen et al. 2016). About a third more work, and memory for
     * one layer instead of all.
     */
    RECOMPUTED
  }

  /** Creates a mode in which weight decay applies to all matrices. */
  public TrainingMode(Tuning tuning, Activations activations) {
    this(tuning, activations, WeightDecay.MATRICES);
  }

  /** Returns the mode that trains all weights and keeps activations. */
  public static TrainingMode full() {
    return new TrainingMode(new Tuning.Full(), Activations.KEPT);
  }

  /** Returns this mode with another weight decay. */
  public TrainingMode with(WeightDecay other) {
    return new TrainingMode(tuning, activations, other);
  }
}
