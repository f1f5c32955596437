package io.troupe.cluster.placement;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Which node of the cluster is which node of the placement. Pure.
 *
 * <p>The trainer runs in the head's process, or sends every step to its ranks on the placement's
 * first GPUs: so the node on the head's host gets seat 0, the others the rest, and seat 0 last.
 * Where nodes start the ranks and the head computes on a GPU of its own, that node gets the last
 * seat, because the first GPU there is the head's, and the placement leaves GPUs idle from its end.
 *
 * @param placement none where nodes decide by themselves
 * @param ranks whether the nodes start the trainer's ranks, and not the head
 * @param headLast whether the node on the head's host gets the last seat
 * @param seats by number, the names of who has them
 */
public record Seating(
    Optional<Placement> placement,
    boolean ranks,
    boolean headLast,
    SortedMap<Integer, String> seats) {
  public Seating {
    seats = Collections.unmodifiableSortedMap(new TreeMap<>(seats));
  }

  /** With all seats free. */
  public static Seating of(Optional<Placement> placement, boolean ranks, boolean headLast) {
    return new Seating(placement, ranks, headLast, Collections.emptySortedMap());
  }

  /** A node took a seat, or none. */
  public record Seated(Seating seating, Share share) {}

  /**
   * Seats a node; one that has a seat keeps it.
   *
   * @param besideHead whether it is on the head's host
   * @param before the seat it has from a former head of the run, whose workers are at work;
   *     negative if none
   */
  public Seated seat(String node, boolean besideHead, int before) {
    if (placement.isEmpty()) {
      return new Seated(this, Share.OWN);
    }
    Optional<Integer> seat =
        seats.entrySet().stream()
            .filter(entry -> entry.getValue().equals(node))
            .map(Map.Entry::getKey)
            .findFirst()
            .or(() -> free().stream().filter(one -> one == before).findFirst())
            .or(() -> next(besideHead));
    if (seat.isEmpty()) {
      return new Seated(this, Share.NOTHING);
    }
    SortedMap<Integer, String> all = new TreeMap<>(seats);
    all.put(seat.get(), node);
    return new Seated(
        new Seating(placement, ranks, headLast, all), share(placement.get(), seat.get()));
  }

  /** A node is gone; its seat is free. */
  public Seating left(String node) {
    SortedMap<Integer, String> all = new TreeMap<>(seats);
    all.values().removeIf(node::equals);
    return new Seating(placement, ranks, headLast, all);
  }

  private Optional<Integer> next(boolean besideHead) {
    List<Integer> free = free();
    if (free.isEmpty()) {
      return Optional.empty();
    }
    if (headLast) {
      return Optional.of(besideHead ? free.getLast() : free.getFirst());
    }
    return besideHead
        ? Optional.of(free.getFirst())
        : free.stream().filter(one -> one > 0).findFirst().or(() -> Optional.of(free.getFirst()));
  }

  /** What each node that is there does, by name. */
  public SortedMap<String, Share> shares() {
    SortedMap<String, Share> shares = new TreeMap<>();
    seats.forEach((seat, node) -> shares.put(node, share(placement.orElseThrow(), seat)));
    return shares;
  }

  private Optional<Share.Rank> rank(Assigned process) {
    return ranks && process.role() instanceof Role.Trainer(int number)
        ? Optional.of(new Share.Rank(number, process.gpus()))
        : Optional.empty();
  }

  private List<Integer> free() {
    return IntStream.range(0, placement.orElseThrow().demand().nodes())
        .filter(seat -> !seats.containsKey(seat))
        .boxed()
        .toList();
  }

  private Share share(Placement placement, int seat) {
    return new Share(
        seat,
        placement.of(seat).stream()
            .filter(process -> process.role() instanceof Role.Rollout)
            .map(Assigned::gpus)
            .toList(),
        placement.of(seat).stream().flatMap(process -> rank(process).stream()).toList(),
        placement.of(seat).stream()
            .filter(process -> !(process.role() instanceof Role.Rollout))
            .filter(process -> rank(process).isEmpty())
            .flatMap(process -> process.gpus().stream())
            .toList(),
        placement.idle().getOrDefault(seat, List.of()));
  }
}
