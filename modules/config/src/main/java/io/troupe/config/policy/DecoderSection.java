package io.troupe.config.policy;

/** A policy that PyTorch computes. */
public sealed interface DecoderSection extends PolicySection
    permits PolicySection.Djl, PolicySection.Pretrained {
  /** How PyTorch computes it. */
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
