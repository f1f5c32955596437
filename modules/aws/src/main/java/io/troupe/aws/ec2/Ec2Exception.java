package io.troupe.aws.ec2;

/** A request that EC2 did not do, or did not answer. */
public final class Ec2Exception extends Exception {
  private static final long serialVersionUID = 1L;

  /** What can be done about it. */
  public enum Kind {
    /** No machines of this kind there now; certainly nothing was launched. */
    CAPACITY,
    /** Nothing was done, and the same request is refused again. */
    REFUSED,
    /** It is not there, or not yet. */
    ABSENT,
    /** Something else still uses it. */
    IN_USE,
    /** It is there already. */
    EXISTS,
    /** Done or not, nobody knows; the same request may be sent again. */
    UNAVAILABLE
  }

  private final Kind kind;

  public Ec2Exception(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
