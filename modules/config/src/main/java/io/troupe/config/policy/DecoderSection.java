package io.troupe.config.policy;

/** A policy that PyTorch computes. */
public sealed interface DecoderSection extends PolicySection
    permits PolicySection.Djl, PolicySection.Pretrained {
  /** Returns the settings of PyTorch for the policy. */
  TorchKeys compute();

  @Override
  default int kvTokens() {
    return compute().kvTokens();
  }

  @Override
  default int bytesOfNumber() {
    return switch (compute().precision()) {
      case FLOAT32 -> Float.BYTES;
      case BFLOAT16 -> Short.BYTES;
    };
  }

  @Override
  default String computesOn() {
    return compute().device();
  }
}
