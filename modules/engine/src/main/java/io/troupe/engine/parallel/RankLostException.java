package io.troupe.engine.parallel;

/**
 * A rank did not take part in time, or is known to be gone. The group cannot be used any more: the
 * step is abandoned, and every rank joins a new group, from the last saved state.
 */
public final class RankLostException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int rank;
  private final String reason;

  /**
   * Creates an exception that names a rank.
   *
   * @param rank that is lost, as far as the reporting rank knows
   * @param reason in words
   */
  public RankLostException(int rank, String reason) {
    super("trainer rank %d is lost: %s".formatted(rank, reason));
    this.rank = rank;
    this.reason = reason;
  }

  /** Creates an exception that names a rank and the failure that showed its loss. */
  public RankLostException(int rank, String reason, Throwable cause) {
    super("trainer rank %d is lost: %s".formatted(rank, reason), cause);
    this.rank = rank;
    this.reason = reason;
  }

  /** Creates the exception of a rank that has aborted its group itself. */
  public static RankLostException aborted(int rank) {
    return new RankLostException(rank, "it aborted its group");
  }

  /** Returns why the rank is lost, in words. */
  public String reason() {
    return reason;
  }

  /** Returns the rank that is lost. */
  public int rank() {
    return rank;
  }
}
