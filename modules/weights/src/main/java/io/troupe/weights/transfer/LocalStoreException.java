package io.troupe.weights.transfer;

import java.io.IOException;

/** Thrown when this node, and not a source, cannot store weights. */
final class LocalStoreException extends IOException {
  private static final long serialVersionUID = 1L;

  LocalStoreException(IOException cause) {
    super(cause.getMessage(), cause);
  }
}
