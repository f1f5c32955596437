package io.troupe.run.task;

import java.io.Serial;

/** A run names a verifier that there is not, or gives it options that it does not take. */
public final class InvalidVerifierException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  InvalidVerifierException(String message) {
    super(message);
  }
}
