package io.troupe.store.file;

import java.io.IOException;

/** A file of a run that this version does not read; the message says which, why and what to do. */
public final class FormatException extends IOException {
  private static final long serialVersionUID = 1L;

  FormatException(String message) {
    super(message);
  }

  public FormatException(String message, IOException cause) {
    super(message, cause);
  }
}
