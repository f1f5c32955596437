package io.troupe.run.simulation;

import java.io.Serial;

/** A simulation that is refused, because a stage has no model or a model does not fit. */
public final class UnmodelledRunException extends Exception {
  @Serial private static final long serialVersionUID = 1;

  /** Says what has no model, and what to do. */
  public UnmodelledRunException(String message) {
    super(message);
  }
}
