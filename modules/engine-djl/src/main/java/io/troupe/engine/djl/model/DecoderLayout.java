package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.DecoderLayout.Kind.BIAS;
import static io.troupe.engine.djl.model.DecoderLayout.Kind.MATRIX;
import static io.troupe.engine.djl.model.DecoderLayout.Kind.NORM;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Names and shapes of the decoder's weights, and the order in which the program takes them. Names
 * are those of Hugging Face's checkpoints.
 *
 * @param parameters the trainable tensors; an output matrix only when it is not the embedding
 * @param slots for each weight that the program takes, the index of its parameter, or {@link
 *     #ABSENT}
 */
public record DecoderLayout(List<Parameter> parameters, List<Integer> slots) {
  /**
   * The number of slots of a layer. One slot, the embedding's, is before the layers, and two slots
   * are after them.
   */
  private static final int LAYER_SLOTS = 14;

  /** The slot of a weight that the family lacks: the program gets an empty tensor. */
  public static final int ABSENT = -1;

  /** The purpose of a tensor, which decides its initial values. */
  enum Kind {
    MATRIX,
    NORM,
    BIAS
  }

  /** A trainable tensor. */
  public record Parameter(String name, Kind kind, List<Long> shape) {
    public Parameter {
      shape = List.copyOf(shape);
    }

    public long[] extents() {
      return shape.stream().mapToLong(Long::longValue).toArray();
    }

    /** Returns the number of elements. */
    public long size() {
      return shape.stream().reduce(1L, Math::multiplyExact);
    }
  }

  public DecoderLayout {
    parameters = List.copyOf(parameters);
    slots = List.copyOf(slots);
  }

  public static DecoderLayout of(DecoderSettings s, int vocabulary) {
    Builder all = new Builder();
    all.add("model.embed_tokens.weight", MATRIX, vocabulary, s.hidden());
    for (int l = 0; l < s.layers(); l++) {
      layer(all, "model.layers." + l + ".", s);
    }
    all.add("model.norm.weight", NORM, s.hidden());
    if (s.tiedEmbeddings()) {
      all.again(0);
    } else {
      all.add("lm_head.weight", MATRIX, vocabulary, s.hidden());
    }
    return new DecoderLayout(all.parameters, all.slots);
  }

  private static void layer(Builder all, String layer, DecoderSettings s) {
    int queries = s.heads() * s.headDim();
    int keys = s.kvHeads() * s.headDim();
    boolean normed = s.family().normedHeads();
    boolean biases = s.family().biases();
    all.add(layer + "input_layernorm.weight", NORM, s.hidden());
    all.add(layer + "self_attn.q_proj.weight", MATRIX, queries, s.hidden());
    all.add(layer + "self_attn.k_proj.weight", MATRIX, keys, s.hidden());
    all.add(layer + "self_attn.v_proj.weight", MATRIX, keys, s.hidden());
    all.add(layer + "self_attn.o_proj.weight", MATRIX, s.hidden(), queries);
    all.addIf(normed, layer + "self_attn.q_norm.weight", NORM, s.headDim());
    all.addIf(normed, layer + "self_attn.k_norm.weight", NORM, s.headDim());
    all.add(layer + "post_attention_layernorm.weight", NORM, s.hidden());
    all.add(layer + "mlp.gate_proj.weight", MATRIX, s.feedForward(), s.hidden());
    all.add(layer + "mlp.up_proj.weight", MATRIX, s.feedForward(), s.hidden());
    all.add(layer + "mlp.down_proj.weight", MATRIX, s.hidden(), s.feedForward());
    all.addIf(biases, layer + "self_attn.q_proj.bias", BIAS, queries);
    all.addIf(biases, layer + "self_attn.k_proj.bias", BIAS, keys);
    all.addIf(biases, layer + "self_attn.v_proj.bias", BIAS, keys);
  }

  public int layers() {
    return (slots.size() - 3) / LAYER_SLOTS;
  }

  /** The slot before the layers. */
  public List<Integer> start() {
    return slots.subList(0, 1);
  }

  /** The slots after the layers. */
  public List<Integer> end() {
    return slots.subList(1 + layers() * LAYER_SLOTS, slots.size());
  }

  /** The slots of a layer. */
  public List<Integer> layer(int layer) {
    int first = 1 + layer * LAYER_SLOTS;
    return slots.subList(first, first + LAYER_SLOTS);
  }

  /** Returns the number of elements of all weights. */
  public long size() {
    return parameters.stream()
        .mapToLong(p -> p.shape().stream().reduce(1L, Math::multiplyExact))
        .sum();
  }

  /** Collects weights in the program's order. */
  private static final class Builder {
    private final List<Parameter> parameters = new ArrayList<>();
    private final List<Integer> slots = new ArrayList<>();

    void add(String name, Kind kind, long... shape) {
      slots.add(parameters.size());
      parameters.add(new Parameter(name, kind, Arrays.stream(shape).boxed().toList()));
    }

    void addIf(boolean present, String name, Kind kind, long... shape) {
      if (present) {
        add(name, kind, shape);
      } else {
        slots.add(ABSENT);
      }
    }

    void again(int parameter) {
      slots.add(parameter);
    }
  }
}
