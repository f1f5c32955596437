package io.troupe.benchmarks.engine;

import io.troupe.engine.djl.model.DecoderSettings;
import java.util.LinkedHashMap;
import java.util.Map;

/** The arguments by which {@code model.py} makes a decoder. */
public final class ModelArguments {
  private ModelArguments() {}

  /** Returns the sizes of a decoder under the names of {@code model.py}. */
  public static Map<String, Object> of(DecoderSettings decoder, int vocabulary) {
    Map<String, Object> sizes = new LinkedHashMap<>();
    sizes.put("vocabulary", vocabulary);
    sizes.put("hidden", decoder.hidden());
    sizes.put("layers", decoder.layers());
    sizes.put("heads", decoder.heads());
    sizes.put("kv_heads", decoder.kvHeads());
    sizes.put("head_dim", decoder.headDim());
    sizes.put("feed_forward", decoder.feedForward());
    sizes.put("context", decoder.contextLength());
    sizes.put("rope_theta", decoder.ropeTheta());
    sizes.put("eps", decoder.normEpsilon());
    return sizes;
  }
}
