package io.troupe.benchmarks.engine;

import io.troupe.engine.djl.model.DecoderSettings;
import java.util.Map;

/** Sizes of a decoder with tied embeddings and random weights. */
public record DecoderShape(
    int vocabulary,
    int hidden,
    int layers,
    int heads,
    int kvHeads,
    int headDim,
    int feedForward,
    double ropeTheta) {
  private static final double EPSILON = 1e-6;
  private static final double INIT_STD = .02;

  /** Returns the settings of such a decoder. */
  public DecoderSettings settings(int context) {
    return new DecoderSettings(
        hidden,
        layers,
        heads,
        kvHeads,
        headDim,
        feedForward,
        context,
        ropeTheta,
        EPSILON,
        true,
        INIT_STD);
  }

  /** Returns the sizes as {@code model.py} names them. */
  public Map<String, Object> sizes(int context) {
    return ModelArguments.of(settings(context), vocabulary);
  }
}
