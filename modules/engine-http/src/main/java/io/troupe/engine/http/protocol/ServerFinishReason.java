package io.troupe.engine.http.protocol;

/** What a server says of a completion's end. */
public enum ServerFinishReason {
  /** Nothing yet. */
  OPEN,
  /** A stop token or a stop string. */
  STOP,
  /** The token limit. */
  LENGTH,
  /** Somebody cancelled it; its tokens are a prefix of what it would have been. */
  ABORTED,
  /** It failed. */
  ERROR,
  /** A word that no dialect knows. */
  UNKNOWN;

  /** The meaning of a server's word. */
  static ServerFinishReason of(String word) {
    return switch (word) {
      case "" -> OPEN;
      case "stop", "eos", "word", "stop_sequence" -> STOP;
      case "length", "limit" -> LENGTH;
      case "abort", "cancelled" -> ABORTED;
      case "error" -> ERROR;
      default -> UNKNOWN;
    };
  }
}
