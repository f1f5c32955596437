package io.troupe.cluster.split;

import java.util.Comparator;
import java.util.List;

/** Which side of a cluster that has come apart goes on: the same answer on both of its sides. */
public final class SplitRule {
  /*
   * To a side, a crash of the others and a cut of the network look the same. A run can go on where
   * a process can be its head, so that
   *
   *   1  a side without such a process stops, if the other one has any: its processes join again;
   *   2  a side goes on if the other one has none, however few it is: losing all nodes does not end
   *      the run;
   *   3  if both have one, the side with more heads and nodes goes on. Workers have no vote: how
   *      many a node has says nothing;
   *   4  a tie goes to the side with the oldest process that can be head, which is the head.
   *
   * Where 1 to 4 are wrong, because views differ for a moment, the lock of the journal and its
   * fencing epoch still let only one head write.
   */

  /** What a process can be. */
  public enum Part {
    /** The head, or one that waits to become it. */
    HEAD,
    /** A node agent. */
    NODE,
    /** A worker, without a vote. */
    WORKER
  }

  /**
   * A member as one side sees it.
   *
   * @param reachable whether it is on that side
   * @param age order of entry, the oldest first
   */
  public record Seen(Part part, boolean reachable, int age) {}

  private SplitRule() {}

  /** Whether the reachable members go on without the others. */
  public static boolean goesOn(List<Seen> members) {
    List<Seen> heads = members.stream().filter(one -> one.part() == Part.HEAD).toList();
    if (heads.isEmpty()) {
      return majority(members) >= 0;
    }
    long here = heads.stream().filter(Seen::reachable).count();
    if (here == 0 || here == heads.size()) {
      return here > 0;
    }
    int majority = majority(members);
    return majority == 0
        ? heads.stream().min(Comparator.comparingInt(Seen::age)).orElseThrow().reachable()
        : majority > 0;
  }

  /** Votes here minus votes there. */
  private static int majority(List<Seen> members) {
    return members.stream()
        .filter(one -> one.part() != Part.WORKER)
        .mapToInt(one -> one.reachable() ? 1 : -1)
        .sum();
  }
}
