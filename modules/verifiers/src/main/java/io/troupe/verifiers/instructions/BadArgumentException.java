package io.troupe.verifiers.instructions;

/** An instruction's arguments do not say what to check. */
final class BadArgumentException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String problem;

  BadArgumentException(String problem) {
    super(problem);
    this.problem = problem;
  }

  String problem() {
    return problem;
  }
}
