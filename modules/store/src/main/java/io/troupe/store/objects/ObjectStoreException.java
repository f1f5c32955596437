package io.troupe.store.objects;

import java.io.IOException;

/** A store of objects did not do what it was asked. */
public final class ObjectStoreException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Kinds of failures, by the caller's remedy. */
  public enum Kind {
    /** The store or the way to it failed: the same request may succeed later. */
    UNAVAILABLE,
    /** The store refuses, until a person changes a permission, a name or a setting. */
    REFUSED,
    /** The credentials have run out: the same request succeeds once they are renewed. */
    EXPIRED,
    /** The condition of a put does not hold. */
    CONFLICT,
    /** The object or the upload is not there. */
    ABSENT
  }

  private final Kind kind;

  public ObjectStoreException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public ObjectStoreException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
