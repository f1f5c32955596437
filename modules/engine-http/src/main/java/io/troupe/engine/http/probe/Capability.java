package io.troupe.engine.http.probe;

import io.troupe.engine.StopMatcher;
import io.troupe.engine.http.protocol.Dialect;

/** An ability of a server that the probe tests. */
public enum Capability {
  /** Takes a prompt of token ids, and returns the sampled ids. */
  TOKEN_IDS,
  /** Returns a log-probability for each sampled token. */
  LOG_PROBS,
  /** Returns log-probabilities of the distribution that it sampled, after the temperature. */
  SAMPLED_LOG_PROBS,
  /** Returns the prompt's token ids. */
  PROMPT_ECHO,
  /** Streams tokens. */
  STREAM,
  /** Ends a completion at any of more than {@link StopMatcher#MOST_OF_A_REQUEST} texts. */
  STOP_TEXTS,
  /** Reports the weights that sampled each token. */
  WEIGHT_SPANS,
  /** Has a name for its weights. */
  WEIGHT_NAME,
  /** Reads new weights from a directory. */
  UPDATE_FROM_DISK,
  /** Reads new weights from a directory by a call to its workers. */
  UPDATE_BY_RPC,
  /** The call to its workers takes the directory as an argument. */
  RELOAD_FROM_PATH,
  /** The workers of the server receive new weights by NCCL. */
  WEIGHT_TRANSFER,
  /** Computes keys and values of requests in flight again with new weights. */
  RECOMPUTE,
  /** Loads adapters while it runs. */
  ADAPTERS,
  /** Freezes requests in flight, and continues them. */
  PAUSE,
  /** Returns log-probabilities of a prompt's tokens. */
  PROMPT_LOG_PROBS,
  /** Aborts requests by name. */
  ABORT,
  /** Reports its load. */
  METRICS;

  /** Returns the way in which an operator gives a server this capability. */
  public String remedy(Dialect dialect) {
    return switch (dialect) {
      case TROUPE ->
          switch (this) {
            case PROMPT_LOG_PROBS -> "start it with --prompt-logprobs";
            case ADAPTERS -> "start it with --max-adapters 3 or more";
            default -> "update Troupe on the server's side";
          };
      case VLLM, VLLM_GENERATE -> vllm();
      case SGLANG -> sglang();
      case LLAMA_SERVER -> llama();
    };
  }

  private String vllm() {
    return switch (this) {
      case TOKEN_IDS, PROMPT_ECHO -> "take vLLM 0.10.2 or newer, which knows return_token_ids";
      case LOG_PROBS -> "start it with --max-logprobs 1 or more";
      case SAMPLED_LOG_PROBS -> "start it with --logprobs-mode processed_logprobs";
      case STREAM -> "take a proxy out of the way that does not pass streams on";
      case UPDATE_BY_RPC, UPDATE_FROM_DISK, PAUSE, ABORT ->
          "start it with VLLM_SERVER_DEV_MODE=1 in its environment, on 127.0.0.1 only";
      case WEIGHT_TRANSFER ->
          "take vLLM 0.27 or newer, and start it with --weight-transfer-config"
              + " '{\"backend\":\"nccl\"}' and VLLM_SERVER_DEV_MODE=1 in its environment";
      case RELOAD_FROM_PATH -> "take a newer vLLM, whose workers read weights from a directory";
      case RECOMPUTE ->
          "take a newer vLLM with VLLM_SERVER_DEV_MODE=1, whose /reset_prefix_cache knows"
              + " reset_running_requests";
      case STOP_TEXTS -> "start it with VLLM_MAX_STOP_STRINGS=64 in its environment";
      case WEIGHT_NAME -> "take vLLM 0.28 or newer";
      case WEIGHT_SPANS ->
          "vLLM 0.32 tells it on no route that runs use, so that all tokens of a completion count as"
              + " of the oldest weights";
      case ADAPTERS ->
          "start it with --enable-lora, and in its environment"
              + " VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and VLLM_RUNTIME_LORA_ALLOWED_PATH_PREFIXES"
              + " with the run's folder servers/weights";
      case PROMPT_LOG_PROBS -> "start it with --max-logprobs 1 or more";
      case METRICS -> "start it without --disable-log-stats";
    };
  }

  private String sglang() {
    return switch (this) {
      case SAMPLED_LOG_PROBS -> "start it without SGLANG_RETURN_ORIGINAL_LOGPROB";
      case METRICS -> "start it with --enable-metrics";
      case ADAPTERS -> "start it with --enable-lora";
      case WEIGHT_TRANSFER -> "SGLang takes no weights by vLLM's protocol";
      case TOKEN_IDS,
          LOG_PROBS,
          PROMPT_ECHO,
          STREAM,
          STOP_TEXTS,
          WEIGHT_SPANS,
          WEIGHT_NAME,
          UPDATE_FROM_DISK,
          UPDATE_BY_RPC,
          RELOAD_FROM_PATH,
          RECOMPUTE,
          PAUSE,
          PROMPT_LOG_PROBS,
          ABORT ->
          "take a newer SGLang";
    };
  }

  private String llama() {
    return switch (this) {
      case UPDATE_FROM_DISK,
          UPDATE_BY_RPC,
          RELOAD_FROM_PATH,
          WEIGHT_TRANSFER,
          RECOMPUTE,
          WEIGHT_NAME,
          WEIGHT_SPANS,
          PAUSE ->
          "llama-server takes no new weights while it runs; a run that starts it may restart it for"
              + " each version: rollout.sidecars.restart_for_weights";
      case METRICS -> "start it with --metrics";
      case TOKEN_IDS, LOG_PROBS, SAMPLED_LOG_PROBS, STREAM, STOP_TEXTS ->
          "take a newer llama-server";
      case PROMPT_ECHO, ADAPTERS, PROMPT_LOG_PROBS, ABORT -> "llama-server does not offer it";
    };
  }
}
