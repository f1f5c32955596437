package io.troupe.verifiers.math.expr;

/**
 * Leaves a recursion over an answer that cannot be finished; caught where answers are compared,
 * never seen outside this package. It carries no stack trace, so that it costs nothing.
 */
public final class UnresolvedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The reason why an answer has no reading or no value. */
  public enum Why {
    /** The text is not in the grammar. */
    UNREADABLE,
    /** The evaluation would take more than the budget. */
    TOO_LARGE,
    /** The expression has no value there: a division by zero, a logarithm of zero. */
    UNDEFINED
  }

  private final Why why;

  public UnresolvedException(Why why) {
    super(why.name(), null, false, false);
    this.why = why;
  }

  public Why why() {
    return why;
  }
}
