package io.troupe.engine.djl.model;

/**
 * The differences between the decoders that share the program: all have grouped-query attention,
 * rotary positions, SwiGLU and an RMSNorm before each block.
 */
public enum DecoderFamily {
  /** Qwen3, dense: queries and keys of each head are normed, nothing has a bias. */
  QWEN3("qwen3", "Qwen3ForCausalLM", true, false) {
    @Override
    public int usualHeadDim(int hidden, int heads) {
      return 128;
    }
  },
  /** Qwen2 and Qwen2.5: queries, keys and values have biases. */
  QWEN2("qwen2", "Qwen2ForCausalLM", false, true),
  /** Llama 3: neither. */
  LLAMA("llama", "LlamaForCausalLM", false, false);

  private final String modelType;
  private final String architecture;
  private final boolean normedHeads;
  private final boolean biases;

  DecoderFamily(String modelType, String architecture, boolean normedHeads, boolean biases) {
    this.modelType = modelType;
    this.architecture = architecture;
    this.normedHeads = normedHeads;
    this.biases = biases;
  }

  /** {@code model_type} of a Hugging Face configuration. */
  public String modelType() {
    return modelType;
  }

  /** The entry of {@code architectures} in a Hugging Face configuration. */
  public String architecture() {
    return architecture;
  }

  /** Whether an RMSNorm of its own scales the queries and keys of each head. */
  public boolean normedHeads() {
    return normedHeads;
  }

  /** Whether the projections to queries, keys and values add a bias. */
  public boolean biases() {
    return biases;
  }

  /** Returns the width of a head where a configuration does not name it, as transformers has it. */
  public int usualHeadDim(int hidden, int heads) {
    return hidden / heads;
  }

  /** Returns the name for people. */
  public String title() {
    return architecture.substring(0, architecture.indexOf("For"));
  }
}
