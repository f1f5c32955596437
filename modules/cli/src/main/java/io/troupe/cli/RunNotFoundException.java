package io.troupe.cli;

import java.io.IOException;
import java.util.Objects;

/** The command line names a run that is not there, or not whole; says which ones are. */
final class RunNotFoundException extends Exception {
  private static final long serialVersionUID = 1;

  RunNotFoundException(IOException cause) {
    super(Objects.requireNonNull(cause.getMessage()), cause);
  }
}
