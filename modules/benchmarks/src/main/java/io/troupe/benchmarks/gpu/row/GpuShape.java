package io.troupe.benchmarks.gpu.row;

import io.troupe.benchmarks.engine.DecoderShape;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderSettings;
import java.util.Map;

/**
 * Shapes of dense Qwen3 models with tied embeddings, and a tiny one for rehearsals. Weights are
 * random: nothing is read.
 */
@SuppressWarnings("ImmutableEnumChecker") // a record of numbers
public enum GpuShape {
  TINY("tiny", new DecoderShape(512, 64, 2, 4, 2, 16, 128, 1_000_000)),
  QWEN3_0_6B("Qwen3-0.6B", new DecoderShape(151_936, 1024, 28, 16, 8, 128, 3072, 1_000_000)),
  QWEN3_1_7B("Qwen3-1.7B", new DecoderShape(151_936, 2048, 28, 16, 8, 128, 6144, 1_000_000)),
  QWEN3_4B("Qwen3-4B", new DecoderShape(151_936, 2560, 36, 32, 8, 128, 9728, 1_000_000));

  private final String label;
  private final DecoderShape shape;

  GpuShape(String label, DecoderShape shape) {
    this.label = label;
    this.shape = shape;
  }

  public String label() {
    return label;
  }

  public int vocabulary() {
    return shape.vocabulary();
  }

  public int layers() {
    return shape.layers();
  }

  public int hidden() {
    return shape.hidden();
  }

  public DecoderSettings settings(int context) {
    return shape.settings(context);
  }

  /** Returns the number of trained numbers. */
  public long parameters() {
    return DecoderLayout.of(settings(2), shape.vocabulary()).parameters().stream()
        .mapToLong(DecoderLayout.Parameter::size)
        .sum();
  }

  /**
   * Returns the floating-point operations of a training step of all weights, a token: six for each
   * number of a matrix, the output matrix included, and those of causal attention. What layers that
   * are computed again cost is not counted, as usual for MFU.
   */
  public double operationsPerToken(int length) {
    double matrices =
        parameters()
            - (double) shape.layers() * (2 * shape.hidden() + 2 * shape.headDim())
            - shape.hidden();
    return 6 * matrices + 6.0 * shape.layers() * shape.heads() * shape.headDim() * length;
  }

  /** Returns the bytes of activations of a layer with its graph, and of all layers' inputs. */
  public double activationBytes(long tokens) {
    double inputs = 2.0 * shape.layers() * tokens * shape.hidden();
    double layer =
        2.0
                * tokens
                * (4.0 * shape.hidden()
                    + 2.0 * (shape.heads() + 2.0 * shape.kvHeads()) * shape.headDim())
            + 2.0 * tokens * (4.0 * shape.heads() * shape.headDim() + 4.0 * shape.feedForward());
    return inputs + layer;
  }

  /** Returns the sizes as {@code model.py} names them. */
  public Map<String, Object> sizes(int context) {
    return shape.sizes(context);
  }
}
