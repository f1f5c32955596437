package io.troupe.cluster.placement;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What one node does of a placement.
 *
 * @param seat the placement's number of the node, from 0; {@link #UNPLACED} where the nodes decide
 *     by themselves, {@link #SPARE} where the others have it all
 * @param workers rollout workers, by the GPUs of each
 * @param ranks trainer ranks that the node starts
 * @param reserved GPUs that others of the run use, such as the head with its trainer
 * @param idle GPUs that nobody uses
 */
public record Share(
    int seat,
    List<List<Integer>> workers,
    List<Rank> ranks,
    List<Integer> reserved,
    List<Integer> idle) {
  /**
   * A trainer rank.
   *
   * @param number of it in the run, from 0
   * @param gpus of the node
   */
  public record Rank(int number, List<Integer> gpus) {
    public Rank {
      gpus = List.copyOf(gpus);
    }
  }

  private static final int UNPLACED = -1;
  private static final int SPARE = -2;

  /** Of a run without a placement. */
  public static final Share OWN = new Share(UNPLACED, List.of(), List.of(), List.of(), List.of());

  /** Of a node more than the placement has, which waits for one of the others to be gone. */
  public static final Share NOTHING = new Share(SPARE, List.of(), List.of(), List.of(), List.of());

  public Share {
    workers = workers.stream().map(List::copyOf).toList();
    ranks = List.copyOf(ranks);
    reserved = List.copyOf(reserved);
    idle = List.copyOf(idle);
  }

  /** Whether the run's placement decides, and not the node. */
  public boolean placed() {
    return seat != UNPLACED;
  }

  /** Whether it is one of the placement's nodes. */
  public boolean seated() {
    return seat >= 0;
  }

  /** One line for the operator. */
  public String text() {
    return switch (seat) {
      case UNPLACED -> "workers as the node decides";
      case SPARE -> "nothing, until a node of the placement is gone";
      default ->
          "node %d of the placement: %s%s%s%s"
              .formatted(
                  seat,
                  ranks.stream()
                      .map(
                          rank -> "trainer rank %d on %s, ".formatted(rank.number, gpus(rank.gpus)))
                      .collect(Collectors.joining()),
                  workers.isEmpty()
                      ? "no rollout workers"
                      : "rollout workers on "
                          + gpus(workers.stream().flatMap(List::stream).toList()),
                  reserved.isEmpty() ? "" : ", head on " + gpus(reserved),
                  idle.isEmpty() ? "" : ", idle: " + gpus(idle));
    };
  }

  /** Numbers of GPUs as a person reads them. */
  public static String gpus(List<Integer> numbers) {
    return "GPU " + numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
