package io.troupe.app;

import java.io.Serial;

/** A run names a verifier that there is not, or gives it options that it does not take. */
final class BadVerifierException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  BadVerifierException(String message) {
    super(message);
  }
}
