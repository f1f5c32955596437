package io.troupe.hosts.placement;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What one node does of a placement.
 *
 * @param slot the placement's number of the node, from 0; {@link #UNPLACED} where the nodes decide
 *     by themselves, {@link #SPARE} where the others have it all
 * @param workers rollout workers, by the GPUs of each
 * @param ranks trainer ranks that the node starts
 * @param reserved GPUs that others of the run use, such as the coordinator with its trainer
 * @param idle GPUs that nobody uses
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
   * @param number of it in the run, from 0
   * @param gpus of the node
   */
  public record AssignedRank(int number, List<Integer> gpus) {
    public AssignedRank {
      gpus = List.copyOf(gpus);
    }
  }

  private static final int UNPLACED = -1;
  private static final int SPARE = -2;

  /** Of a run without a placement. */
  public static final NodeAssignment UNMANAGED =
      new NodeAssignment(UNPLACED, List.of(), List.of(), List.of(), List.of());

  /** Of a node more than the placement has, which waits for one of the others to be gone. */
  public static final NodeAssignment STANDBY =
      new NodeAssignment(SPARE, List.of(), List.of(), List.of(), List.of());

  public NodeAssignment {
    workers = workers.stream().map(List::copyOf).toList();
    ranks = List.copyOf(ranks);
    reserved = List.copyOf(reserved);
    idle = List.copyOf(idle);
  }

  /** Whether the run's placement decides, and not the node. */
  public boolean placed() {
    return slot != UNPLACED;
  }

  /** Whether it is one of the placement's nodes. */
  public boolean hasSlot() {
    return slot >= 0;
  }

  /** One line for the operator. */
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

  /** Numbers of GPUs as a person reads them. */
  public static String gpus(List<Integer> numbers) {
    return "GPU " + numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
