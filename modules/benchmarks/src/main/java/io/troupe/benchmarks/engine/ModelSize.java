package io.troupe.benchmarks.engine;

import io.troupe.benchmarks.harness.IdTokenizer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.DecoderSettings;
import java.util.Map;

/** The decoders that are compared. */
@SuppressWarnings("ImmutableEnumChecker") // a record of numbers
public enum ModelSize {
  TINY(new DecoderShape(64, 128, 4, 4, 2, 32, 384, 10_000)),
  SMALL(new DecoderShape(4096, 512, 8, 8, 4, 64, 1536, 10_000));

  private final DecoderShape shape;

  ModelSize(DecoderShape shape) {
    this.shape = shape;
  }

  int vocabulary() {
    return shape.vocabulary();
  }

  String label() {
    return switch (this) {
      case TINY -> "tiny";
      case SMALL -> "small";
    };
  }

  public DecoderSettings settings(int context) {
    return shape.settings(context);
  }

  /** Returns the sizes by the names that {@code model.py} uses. */
  Map<String, Object> sizes(int context) {
    return shape.sizes(context);
  }

  /** Ids without text: 1 ends a completion, 2 and above are drawn. */
  public Tokenizer tokenizer() {
    return new IdTokenizer(shape.vocabulary());
  }
}
