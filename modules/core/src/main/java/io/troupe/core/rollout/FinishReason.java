package io.troupe.core.rollout;

/** Why a completion ended. */
public enum FinishReason {
  /** The policy sampled a stop token; it is the completion's last token and is trained on. */
  STOP,
  /** The token limit was reached. */
  LENGTH
}
