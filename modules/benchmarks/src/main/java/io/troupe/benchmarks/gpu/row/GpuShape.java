package io.troupe.benchmarks.gpu.row;

import io.troupe.benchmarks.engine.ModelArguments;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderSettings;
import java.util.Map;

/**
 * Shapes of dense Qwen3 models with tied embeddings, and a tiny one for rehearsals. Weights are
 * random: nothing is read.
 */
public enum GpuShape {
  TINY("tiny", 512, 64, 2, 4, 2, 16, 128),
  QWEN3_0_6B("Qwen3-0.6B", 151_936, 1024, 28, 16, 8, 128, 3072),
  QWEN3_1_7B("Qwen3-1.7B", 151_936, 2048, 28, 16, 8, 128, 6144),
  QWEN3_4B("Qwen3-4B", 151_936, 2560, 36, 32, 8, 128, 9728);

  private static final double ROPE_THETA = 1_000_000;
  private static final double EPSILON = 1e-6;
  private static final double INIT_STD = .02;

  private final String label;
  private final int vocabulary;
  private final int hidden;
  private final int layers;
  private final int heads;
  private final int kvHeads;
  private final int headDim;
  private final int feedForward;

  GpuShape(
      String label,
      int vocabulary,
      int hidden,
      int layers,
      int heads,
      int kvHeads,
      int headDim,
      int feedForward) {
    this.label = label;
    this.vocabulary = vocabulary;
    this.hidden = hidden;
    this.layers = layers;
    this.heads = heads;
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.feedForward = feedForward;
  }

  public String label() {
    return label;
  }

  public int vocabulary() {
    return vocabulary;
  }

  public int layers() {
    return layers;
  }

  public int hidden() {
    return hidden;
  }

  public DecoderSettings settings(int context) {
    return new DecoderSettings(
        hidden,
        layers,
        heads,
        kvHeads,
        headDim,
        feedForward,
        context,
        ROPE_THETA,
        EPSILON,
        true,
        INIT_STD);
  }

  /** Returns the number of trained numbers. */
  public long parameters() {
    return DecoderLayout.of(settings(2), vocabulary).parameters().stream()
        .mapToLong(DecoderLayout.Parameter::size)
        .sum();
  }

  /**
   * Returns the floating-point operations of a training step of all weights, a token: six for each
   * number of a matrix, the output matrix included, and those of causal attention. What layers that
   * are computed again cost is not counted, as usual for MFU.
   */
  public double operationsPerToken(int length) {
    double matrices = parameters() - (double) layers * (2 * hidden + 2 * headDim) - hidden;
    return 6 * matrices + 6.0 * layers * heads * headDim * length;
  }

  /** Returns the bytes of activations of a layer with its graph, and of all layers' inputs. */
  public double activationBytes(long tokens) {
    double inputs = 2.0 * layers * tokens * hidden;
    double layer =
        2.0 * tokens * (4.0 * hidden + 2.0 * (heads + 2.0 * kvHeads) * headDim)
            + 2.0 * tokens * (4.0 * heads * headDim + 4.0 * feedForward);
    return inputs + layer;
  }

  /** Returns the sizes as {@code model.py} names them. */
  public Map<String, Object> sizes(int context) {
    return ModelArguments.of(settings(context), vocabulary);
  }
}
