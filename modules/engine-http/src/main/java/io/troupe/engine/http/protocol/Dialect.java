package io.troupe.engine.http.protocol;

/** The kinds of servers. */
public enum Dialect {
  /** {@code troupe serve}. */
  TROUPE("troupe"),
  /** vLLM by {@code /v1/completions}. */
  VLLM("vllm"),
  /** vLLM by {@code /inference/v1/generate}. */
  VLLM_GENERATE("vllm-generate"),
  SGLANG("sglang"),
  LLAMA_SERVER("llama-server");

  private final String title;

  Dialect(String title) {
    this.title = title;
  }

  /** The name in logs and in {@code troupe doctor}. */
  public String title() {
    return title;
  }

  /** The codec of this dialect. */
  public CompletionCodec codec() {
    return switch (this) {
      case TROUPE -> new CompletionsCodec(true);
      case VLLM -> new CompletionsCodec(false);
      case VLLM_GENERATE -> new GenerateCodec();
      case SGLANG -> new SglangCodec();
      case LLAMA_SERVER -> new LlamaCodec();
    };
  }
}
