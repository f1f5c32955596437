package io.troupe.hosts.placement;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The part of a placement that one node runs.
 *
 * @param slot the placement's number of the node, from 0; {@link #UNPLACED} if the nodes choose
 *     their processes themselves, {@link #SPARE} if other nodes have all slots
 * @param workers GPUs of each rollout worker
 * @param ranks trainer ranks that the node starts
 * @param reserved GPUs that others of the run use, such as the coordinator with its trainer
 * @param idle GPUs that no process uses
 */
public record NodeAssignment(
    int slot,
    List<List<Integer>> workers,
    List<AssignedRank> ranks,
    List<Integer> reserved,
    List<Integer> idle) {
  /**
   * A trainer rank.
   *
   * @param number number of the rank, from 0
   * @param gpus GPUs of the node that the process gets
   */
  public record AssignedRank(int number, List<Integer> gpus) {
    public AssignedRank {
      gpus = List.copyOf(gpus);
    }
  }

  private static final int UNPLACED = -1;
  private static final int SPARE = -2;

  /** The assignment in a run without a placement. */
  public static final NodeAssignment UNMANAGED =
      new NodeAssignment(UNPLACED, List.of(), List.of(), List.of(), List.of());

  /**
   * The assignment of a node beyond the placement's number, which waits until another node is gone.
   */
  public static final NodeAssignment STANDBY =
      new NodeAssignment(SPARE, List.of(), List.of(), List.of(), List.of());

  public NodeAssignment {
    workers = workers.stream().map(List::copyOf).toList();
    ranks = List.copyOf(ranks);
    reserved = List.copyOf(reserved);
    idle = List.copyOf(idle);
  }

  /** Whether the run's placement, and not the node, chooses the processes. */
  public boolean placed() {
    return slot != UNPLACED;
  }

  /** Whether the node has a slot of the placement. */
  public boolean hasSlot() {
    return slot >= 0;
  }

  /** The assignment as one line for the operator. */
  public String text() {
    return switch (slot) {
      case UNPLACED -> "workers as the node decides";
      case SPARE -> "nothing, until a node of the placement is gone";
      default ->
          "node %d of the placement: %s%s%s%s"
              .formatted(
                  slot,
                  ranks.stream()
                      .map(
                          rank -> "trainer rank %d on %s, ".formatted(rank.number, gpus(rank.gpus)))
                      .collect(Collectors.joining()),
                  workers.isEmpty()
                      ? "no rollout workers"
                      : "rollout workers on "
                          + gpus(workers.stream().flatMap(List::stream).toList()),
                  reserved.isEmpty() ? "" : ", coordinator on " + gpus(reserved),
                  idle.isEmpty() ? "" : ", idle: " + gpus(idle));
    };
  }

  /** GPU numbers in a readable form. */
  public static String gpus(List<Integer> numbers) {
    return "GPU " + numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
