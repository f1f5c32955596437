package io.troupe.cluster.split;

import java.util.Comparator;
import java.util.List;

/** Decides what a process does about lost members of its cluster. */
public final class SplitBrainRule {
  /*
   * To one side, a crash of the others and a cut of the network look the same, and no majority tells
   * them apart: two crashes of three processes look like a minority that is cut off. The run's lease
   * tells them apart. It is a lock in the run folder that the operating system releases when its
   * process dies, and never before. Hence:
   *
   *   1  a side without a process that can coordinate stops if the other side has one; its processes
   *      join again;
   *   2  the process that holds the lease continues with every process it reaches and removes the
   *      others;
   *   3  if no process holds the lease, the oldest that can coordinate tries to take it. The cluster
   *      gives the leadership to the oldest member, so lease and leadership meet in one process. The
   *      others wait;
   *   4  a side that has not got the lease for as long as a dead host may keep it stops.
   *
   * A network file server may give away the lease of a living process. Before a process removes
   * members it checks whether it still holds the lease, and leaves the cluster if it does not.
   *
   * Invariant: a process removes members, and coordinates, only while it holds the lease. One process
   * holds it at a time. Hence there are never two coordinators, and of two sides at most one
   * continues. The sides' views may differ: no step depends on the view of the other side.
   *
   * A cluster in which no process can coordinate has nothing to protect: its larger part continues.
   */

  /** The kind of a process. */
  public enum MemberKind {
    /** The coordinator, or a standby. */
    COORDINATOR,
    /** A node agent. */
    NODE,
    /** A worker, without a vote. */
    WORKER
  }

  /** The action of a process. */
  public enum Action {
    /** Remove the lost members. */
    REMOVE,
    /** Try to take the lease. */
    CLAIM,
    /** Wait: another process of this side decides. */
    WAIT,
    /** Leave the cluster. */
    LEAVE
  }

  /**
   * A member as one process sees it.
   *
   * @param reachable whether the member is on that process's side
   * @param age position in the order of joining, the oldest first
   */
  public record MemberView(MemberKind kind, boolean reachable, int age) {}

  private SplitBrainRule() {}

  /**
   * Returns the action of one member.
   *
   * @param age of this member
   * @param holdsLease whether this member holds the lease
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
