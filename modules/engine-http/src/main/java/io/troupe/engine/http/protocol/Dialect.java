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

  /** As logs and {@code troupe doctor} print it. */
  public String title() {
    return title;
  }

  /** How it is spoken. */
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
