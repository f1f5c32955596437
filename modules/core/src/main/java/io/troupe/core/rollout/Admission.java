package io.troupe.core.rollout;

/**
 * The number of groups that may start, after AReaL (Fu et al. 2025, eq. 3): never more are
 * outstanding than the coming eta + 1 steps can consume, so that staleness stays low before any
 * check. Where a group is used K times, what is outstanding are uses, K of a group that is under
 * lease.
 *
 * <p>This bounds groups in aggregate, not the staleness of one token: a straggler passes it. The
 * guarantee is {@link io.troupe.core.rollout.StalenessBound}'s, at consumption.
 */
public final class Admission {
  private Admission() {}

  /**
   * Returns the number of groups that may start now.
   *
   * @param maxConcurrent most groups under lease at a time
   * @param running groups under lease
   * @param accepted uses of groups that ended as trained, and K of each in training or buffered
   * @param version steps trained
   * @param groupsPerStep B
   * @param maxStaleness eta
   * @param uses K
   * @return 0 or more
   */
  public static long capacity(
      long maxConcurrent,
      long running,
      long accepted,
      long version,
      long groupsPerStep,
      long maxStaleness,
      long uses) {
    long room = (maxStaleness + version + 1) * groupsPerStep - (accepted + uses * running);
    return Math.max(0, Math.min(maxConcurrent - running, room / uses));
  }
}
