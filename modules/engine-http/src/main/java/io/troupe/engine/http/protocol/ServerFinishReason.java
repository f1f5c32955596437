package io.troupe.engine.http.protocol;

/** A server's report on the end of a completion. */
public enum ServerFinishReason {
  /** No end yet. */
  OPEN,
  /** A stop token or a stop string. */
  STOP,
  /** The token limit. */
  LENGTH,
  /**
   * A client cancelled the request; its tokens are a prefix of the completion that it would have
   * been.
   */
  ABORTED,
  /** The server failed. */
  ERROR,
  /** A word that no dialect knows. */
  UNKNOWN;

  /** The meaning of a server's finish reason. */
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
