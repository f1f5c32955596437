package io.troupe.sync;

import java.io.IOException;

/** The copy is written by another run folder: this one stores nothing more in it. */
public final class CopyTakenException extends IOException {
  private static final long serialVersionUID = 1L;

  CopyTakenException(String message) {
    super(message);
  }
}
