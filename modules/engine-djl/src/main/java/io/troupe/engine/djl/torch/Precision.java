package io.troupe.engine.djl.torch;

/**
 * The numbers that matrices are multiplied in. Master weights, moments, log-probabilities and
 * losses are float32 or finer whatever it is.
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

  /** TorchScript's number of the data type. */
  public int number() {
    return number;
  }
}
