package io.troupe.cluster.split;

import java.util.Comparator;
import java.util.List;

/** What a process does about members of its cluster that it has lost. */
public final class SplitBrainRule {
  /*
   * To a side, a crash of the others and a cut of the network look the same, and no count of votes
   * tells them apart: two crashes of three look like a minority cut off. What tells them apart is
   * the run's lease, a lock in the run folder that the operating system takes from dead processes
   * and from no others. So that
   *
   *   1  a side without a process that could be head stops, if the other one has any: its processes
   *      join again;
   *   2  the process that holds the lease goes on with everybody it reaches, and removes the others;
   *   3  where nobody holds it, the oldest that could be head tries to take it: the cluster gives the
   *      seat to the oldest, so that lease and seat meet in one process. The rest wait;
   *   4  a side that has not got the lease for as long as a dead host may keep it stops.
   *
   * A server of network files may give the lease of a living process away. Before a process removes
   * members it looks whether the lease is still its own, and leaves if it is not.
   *
   * Invariant: a process removes members only while it holds the lease, and it works as head only
   * while it holds the lease. One process holds it at a time; hence there never are two heads, and
   * of two sides at most one goes on. Views may differ as they like: no step depends on another
   * side's view.
   *
   * A cluster in which nobody could be head has nothing to protect: its larger part goes on.
   */

  /** What a process can be. */
  public enum MemberKind {
    /** The head, or one that waits to become it. */
    COORDINATOR,
    /** A node agent. */
    NODE,
    /** A worker, without a vote. */
    WORKER
  }

  /** What to do. */
  public enum Action {
    /** Remove the members that are lost. */
    REMOVE,
    /** Try to take the lease. */
    CLAIM,
    /** Somebody else of this side decides. */
    WAIT,
    /** Leave the cluster. */
    LEAVE
  }

  /**
   * A member as one process sees it.
   *
   * @param reachable whether it is on that process's side
   * @param age order of entry, the oldest first
   */
  public record MemberView(MemberKind kind, boolean reachable, int age) {}

  private SplitBrainRule() {}

  /**
   * What one of the members does.
   *
   * @param age of the one that asks
   * @param holdsLease whether it has the lease
   */
  public static Action verdict(List<MemberView> members, int age, boolean holdsLease) {
    if (holdsLease) {
      return Action.REMOVE;
    }
    if (members.stream().noneMatch(one -> one.kind() == MemberKind.COORDINATOR)) {
      return verdictWithoutCoordinators(members, age);
    }
    return members.stream()
        .filter(one -> one.kind() == MemberKind.COORDINATOR && one.reachable())
        .min(Comparator.comparingInt(MemberView::age))
        .map(oldest -> oldest.age() == age ? Action.CLAIM : Action.WAIT)
        .orElse(Action.LEAVE);
  }

  private static Action verdictWithoutCoordinators(List<MemberView> members, int age) {
    int majority =
        members.stream()
            .filter(one -> one.kind() != MemberKind.WORKER)
            .mapToInt(one -> one.reachable() ? 1 : -1)
            .sum();
    boolean first =
        members.stream().filter(MemberView::reachable).mapToInt(MemberView::age).min().orElse(age)
            == age;
    if (majority < 0) {
      return Action.LEAVE;
    }
    return first ? Action.REMOVE : Action.WAIT;
  }
}
