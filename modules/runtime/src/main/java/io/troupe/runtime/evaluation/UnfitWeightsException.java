package io.troupe.runtime.evaluation;

import java.io.IOException;

/** A worker cannot have the weights of an evaluation, now or later; the message says why. */
public final class UnfitWeightsException extends IOException {
  private static final long serialVersionUID = 1L;

  public UnfitWeightsException(String message) {
    super(message);
  }
}
