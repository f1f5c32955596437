package io.troupe.run.replay;

import java.io.Serial;

/** A replay that is refused before it starts, because it could not have the bits of the run. */
public final class ReplayRefusedException extends Exception {
  @Serial private static final long serialVersionUID = 1;

  /** Says what is missing or differs, and what to do. */
  public ReplayRefusedException(String message) {
    super(message);
  }
}
