package io.troupe.weights.delta;

import java.io.IOException;

/** Bytes that are no delta of the base they are applied to. */
public final class DamagedDeltaException extends IOException {
  private static final long serialVersionUID = 1L;

  DamagedDeltaException(String message) {
    super(message);
  }
}
