package io.troupe.gateway.fields;

/** A route whose requests have fields. */
public enum RequestRoute {
  COMPLETIONS("/v1/completions"),
  CHAT("/v1/chat/completions"),
  RESPONSES("/v1/responses"),
  MESSAGES("/v1/messages"),
  COUNT_TOKENS("/v1/messages/count_tokens"),
  TOKENIZE("/tokenize"),
  DETOKENIZE("/detokenize"),
  UPDATE_WEIGHTS("/update_weights_from_disk"),
  LOAD_ADAPTER("/v1/load_lora_adapter"),
  UNLOAD_ADAPTER("/v1/unload_lora_adapter"),
  ABORT_REQUESTS("/abort_requests"),
  PAUSE("/pause"),
  RESUME("/resume");

  private final String path;

  RequestRoute(String path) {
    this.path = path;
  }

  /** The path of the route. */
  public String path() {
    return path;
  }
}
