package io.troupe.engine.parallel;

/**
 * A rank did not take part in time, or is known to be gone. The group cannot be used any more: the
 * step is abandoned, and every rank joins a new group, from the last published weights and its
 * shard of the optimizer's checkpoint.
 */
public final class RankLostException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int rank;
  private final String reason;

  /**
   * Names a rank.
   *
   * @param rank that is lost, as far as this one can tell
   * @param reason in words
   */
  public RankLostException(int rank, String reason) {
    super("trainer rank %d is lost: %s".formatted(rank, reason));
    this.rank = rank;
    this.reason = reason;
  }

  /** Names a rank, with what was seen of it. */
  public RankLostException(int rank, String reason, Throwable cause) {
    super("trainer rank %d is lost: %s".formatted(rank, reason), cause);
    this.rank = rank;
    this.reason = reason;
  }

  /** Why it is lost, in words. */
  public String reason() {
    return reason;
  }

  /** The rank that is lost. */
  public int rank() {
    return rank;
  }
}
