package io.troupe.config.policy;

/** Keys that the policies of PyTorch have in common. */
public sealed interface DecoderSection permits PolicySection.Djl, PolicySection.Pretrained {
  /** Most tokens, padding included, of a micro-batch. */
  int microBatchTokens();

  /** What the trainer computes twice. */
  PolicySection.Recompute recompute();

  /** Adapters that are trained instead of the weights. */
  LoraSection lora();
}
