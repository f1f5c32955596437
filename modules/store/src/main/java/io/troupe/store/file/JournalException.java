package io.troupe.store.file;

import java.io.IOException;

/** A journal that cannot be opened, read or appended to; the message says what to do. */
public abstract sealed class JournalException extends IOException {
  private static final long serialVersionUID = 1L;

  private JournalException(String message) {
    super(message);
  }

  /** Another process, or another writer in this one, holds the journal. */
  public static final class Locked extends JournalException {
    private static final long serialVersionUID = 1L;

    public Locked(String message) {
      super(message);
    }
  }

  /** Another writer with a greater epoch has taken over: this one must stop. */
  public static final class Fenced extends JournalException {
    private static final long serialVersionUID = 1L;

    public Fenced(String message) {
      super(message);
    }
  }

  /** Bytes that were once acknowledged cannot be read; nothing was skipped, nothing changed. */
  public static final class Corrupt extends JournalException {
    private static final long serialVersionUID = 1L;

    public Corrupt(String message) {
      super(message);
    }
  }

  /** A position that the journal does not have: its record was cut off, or a fenced writer's. */
  public static final class Elsewhere extends JournalException {
    private static final long serialVersionUID = 1L;

    public Elsewhere(String message) {
      super(message);
    }
  }

  /** The writer's queue is full: nothing of this append was written, and it may be tried again. */
  public static final class Busy extends JournalException {
    private static final long serialVersionUID = 1L;

    public Busy(String message) {
      super(message);
    }
  }

  /** The journal was closed, or an earlier write failed; it must be opened again. */
  public static final class Unusable extends JournalException {
    private static final long serialVersionUID = 1L;

    public Unusable(String message) {
      super(message);
    }
  }
}
