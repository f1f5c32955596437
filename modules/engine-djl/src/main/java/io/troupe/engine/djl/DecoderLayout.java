package io.troupe.engine.djl;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Names and shapes of the decoder's weights, in the order in which the program takes them. Names
 * are those of Hugging Face's Qwen3 checkpoints.
 *
 * @param parameters the trainable tensors; an output matrix only when it is not the embedding
 * @param tied whether the program's last weight is the embedding again
 */
record DecoderLayout(List<Parameter> parameters, boolean tied) {
  /** A trainable tensor. */
  record Parameter(String name, List<Long> shape) {
    Parameter {
      shape = List.copyOf(shape);
    }

    /** Norm weights are vectors, everything else is a matrix. */
    boolean isNorm() {
      return shape.size() == 1;
    }

    long[] extents() {
      return shape.stream().mapToLong(Long::longValue).toArray();
    }
  }

  DecoderLayout {
    parameters = List.copyOf(parameters);
  }

  static DecoderLayout of(DecoderSettings s, int vocabulary) {
    List<Parameter> all = new ArrayList<>();
    add(all, "model.embed_tokens.weight", vocabulary, s.hidden());
    int queries = s.heads() * s.headDim();
    int keys = s.kvHeads() * s.headDim();
    for (int l = 0; l < s.layers(); l++) {
      String layer = "model.layers." + l + ".";
      add(all, layer + "input_layernorm.weight", s.hidden());
      add(all, layer + "self_attn.q_proj.weight", queries, s.hidden());
      add(all, layer + "self_attn.k_proj.weight", keys, s.hidden());
      add(all, layer + "self_attn.v_proj.weight", keys, s.hidden());
      add(all, layer + "self_attn.o_proj.weight", s.hidden(), queries);
      add(all, layer + "self_attn.q_norm.weight", s.headDim());
      add(all, layer + "self_attn.k_norm.weight", s.headDim());
      add(all, layer + "post_attention_layernorm.weight", s.hidden());
      add(all, layer + "mlp.gate_proj.weight", s.feedForward(), s.hidden());
      add(all, layer + "mlp.up_proj.weight", s.feedForward(), s.hidden());
      add(all, layer + "mlp.down_proj.weight", s.hidden(), s.feedForward());
    }
    add(all, "model.norm.weight", s.hidden());
    if (!s.tiedEmbeddings()) {
      add(all, "lm_head.weight", vocabulary, s.hidden());
    }
    return new DecoderLayout(all, s.tiedEmbeddings());
  }

  /** How many numbers all weights hold. */
  long size() {
    return parameters.stream()
        .mapToLong(p -> p.shape().stream().reduce(1L, Math::multiplyExact))
        .sum();
  }

  private static void add(List<Parameter> all, String name, long... shape) {
    all.add(new Parameter(name, Arrays.stream(shape).boxed().toList()));
  }
}
