package io.troupe.aws.client;

import java.io.IOException;

/** A request that a service did not do, or did not answer. */
public final class AwsException extends IOException {
  private static final long serialVersionUID = 1L;

  /** What can be done about it. */
  public enum Kind {
    /** No machines of this kind there now; certainly nothing was started. */
    CAPACITY,
    /** Nothing was done, and the same request is refused again. */
    REFUSED,
    /** The resource does not exist, or not yet. */
    ABSENT,
    /** Something else still uses it. */
    IN_USE,
    /** The resource exists already. */
    EXISTS,
    /** Done or not, nobody knows; the same request may be sent again. */
    UNAVAILABLE
  }

  private final Kind kind;

  public AwsException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public AwsException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
