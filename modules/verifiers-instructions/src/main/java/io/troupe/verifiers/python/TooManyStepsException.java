package io.troupe.verifiers.python;

/** A search took more steps than any honest text and pattern need. */
public final class TooManyStepsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String pattern;

  TooManyStepsException(String pattern) {
    super(pattern);
    this.pattern = pattern;
  }

  /** The pattern that was searched for. */
  public String pattern() {
    return pattern;
  }
}
