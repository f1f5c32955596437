package io.troupe.benchmarks.engine;

import io.troupe.benchmarks.harness.IdTokenizer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.DecoderSettings;
import java.util.Map;

/** The decoders that are compared. */
public enum ModelSize {
  TINY(64, 128, 4, 4, 2, 32, 384),
  SMALL(4096, 512, 8, 8, 4, 64, 1536);

  private static final double ROPE_THETA = 10_000;
  private static final double EPSILON = 1e-6;
  private static final double INIT_STD = .02;

  private final int vocabulary;
  private final int hidden;
  private final int layers;
  private final int heads;
  private final int kvHeads;
  private final int headDim;
  private final int feedForward;

  ModelSize(
      int vocabulary,
      int hidden,
      int layers,
      int heads,
      int kvHeads,
      int headDim,
      int feedForward) {
    this.vocabulary = vocabulary;
    this.hidden = hidden;
    this.layers = layers;
    this.heads = heads;
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.feedForward = feedForward;
  }

  int vocabulary() {
    return vocabulary;
  }

  String label() {
    return switch (this) {
      case TINY -> "tiny";
      case SMALL -> "small";
    };
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

  /** The same sizes, as {@code model.py} names them. */
  Map<String, Object> sizes(int context) {
    return ModelArguments.of(settings(context), vocabulary);
  }

  /** Ids without text: 1 ends a completion, 2 and above are drawn. */
  public Tokenizer tokenizer() {
    return new IdTokenizer(vocabulary);
  }
}
