package io.troupe.engine.djl.torch;

/**
 * The type of the numbers that matrices are multiplied in. Master weights, moments,
 * log-probabilities and losses are float32 or finer in every precision.
 */
public enum Precision {
  /** 24 bits of mantissa. */
  FLOAT32(6),
  /** 8 bits of mantissa: half the memory of weights, activations and cache, and tensor cores. */
  BFLOAT16(15);

  private final int number;

  Precision(int number) {
    this.number = number;
  }

  /** Returns TorchScript's number of the data type. */
  public int number() {
    return number;
  }
}
