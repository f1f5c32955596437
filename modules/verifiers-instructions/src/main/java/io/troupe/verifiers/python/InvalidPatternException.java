package io.troupe.verifiers.python;

/** Text that is no regular expression of Python's, or one that a linear matcher cannot run. */
public final class InvalidPatternException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String problem;

  InvalidPatternException(String problem, String pattern) {
    super(problem);
    this.problem = "%s in the pattern %s".formatted(problem, pattern);
  }

  /** Returns the fault and its pattern. */
  public String problem() {
    return problem;
  }
}
