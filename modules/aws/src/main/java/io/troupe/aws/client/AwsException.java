package io.troupe.aws.client;

import java.io.IOException;

/** A request that a service did not do, or did not answer. */
public final class AwsException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Kinds of failures, by their remedy. */
  public enum Kind {
    /** No machines of this kind there now; certainly nothing was started. */
    CAPACITY,
    /** The service refused the request, did nothing, and would refuse the same request again. */
    REFUSED,
    /** The resource does not exist, or not yet. */
    ABSENT,
    /** Another resource still uses the resource. */
    IN_USE,
    /** The resource exists already. */
    EXISTS,
    /** The request was done or not; the same request may be sent again. */
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

  /** Returns the kind of the failure, by its remedy. */
  public Kind kind() {
    return kind;
  }
}
