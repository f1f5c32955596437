package io.troupe.verifiers.math;

/**
 * Leaves a recursion over an answer that cannot be finished; caught where answers are compared,
 * never seen outside this package. It carries no stack trace, so that it costs nothing.
 */
final class Unresolved extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Why an answer has no reading or no value. */
  enum Why {
    /** It is not in the grammar. */
    UNREADABLE,
    /** It would take more than the budget. */
    TOO_LARGE,
    /** It has no value there: a division by zero, a logarithm of zero. */
    UNDEFINED
  }

  private final Why why;

  Unresolved(Why why) {
    super(why.name(), null, false, false);
    this.why = why;
  }

  Why why() {
    return why;
  }
}
