package io.troupe.core.completion;

/** The reason why a completion ended. */
public enum FinishReason {
  /** The policy sampled a stop token; it is the completion's last token and is trained on. */
  STOP,
  /** A stop string was sampled; the token that completed it is the last and is trained on. */
  STOP_STRING,
  /** The token limit was reached. */
  LENGTH
}
