package io.troupe.cluster.placement;

import java.util.ArrayList;
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
 * <p>The trainer runs in the head's process, or sends every step to its ranks, and the placement
 * says which node is the head's host ({@link Placement#headNode}): the node there gets that seat,
 * the others the rest, and that one last.
 *
 * <p><b>Invariant</b>: a seat is given to a node that takes it up. One that is at work at a seat
 * under a former head of the run gets that one or none; one that was spare waits until those at
 * work have had the time to say so, and takes up whichever seat comes free.
 *
 * @param placement none where nodes decide by themselves
 * @param ranks whether the nodes start the trainer's ranks, and not the head
 * @param settled whether all nodes that were at work under a former head have said so
 * @param seats by number, the names of who has them
 * @param waiting nodes without one, who came first at first
 */
public record Seating(
    Optional<Placement> placement,
    boolean ranks,
    boolean settled,
    SortedMap<Integer, String> seats,
    List<Waiting> waiting) {
  public Seating {
    seats = Collections.unmodifiableSortedMap(new TreeMap<>(seats));
    waiting = List.copyOf(waiting);
  }

  /** With all seats free. */
  public static Seating of(Optional<Placement> placement, boolean ranks) {
    return new Seating(placement, ranks, false, Collections.emptySortedMap(), List.of());
  }

  /**
   * A node that wants a seat.
   *
   * @param besideHead whether it is on the head's host
   * @param before {@link Share#seat} of what it does under a former head of the run
   */
  public record Waiting(String node, boolean besideHead, int before) {}

  /** A node took a seat, or none. */
  public record Seated(Seating seating, Share share) {}

  /**
   * Seats came free.
   *
   * @param shares what nodes that waited do from now on, by name
   */
  public record Called(Seating seating, SortedMap<String, Share> shares) {
    public Called {
      shares = Collections.unmodifiableSortedMap(new TreeMap<>(shares));
    }
  }

  /** Seats a node; one that has a seat keeps it, and one that gets none waits. */
  public Seated seat(Waiting one) {
    if (placement.isEmpty()) {
      return new Seated(this, Share.OWN);
    }
    Optional<Integer> has =
        seats.entrySet().stream()
            .filter(entry -> entry.getValue().equals(one.node()))
            .map(Map.Entry::getKey)
            .findFirst();
    if (has.isPresent()) {
      return new Seated(this, share(has.get()));
    }
    Seating others = without(one.node());
    return others
        .due(one)
        .map(seat -> new Seated(others.with(seat, one.node()), share(seat)))
        .orElseGet(() -> new Seated(others.with(one), Share.NOTHING));
  }

  /** A node is gone; its seat is free. */
  public Called left(String node) {
    return without(node).call();
  }

  /** Who was at work under a former head has come by now. */
  public Called settle() {
    return new Seating(placement, ranks, true, seats, waiting).call();
  }

  private Called call() {
    Seating now = this;
    SortedMap<String, Share> shares = new TreeMap<>();
    for (Waiting one : waiting) {
      Seated seated = now.seat(one);
      now = seated.seating();
      if (seated.share().seated()) {
        shares.put(one.node(), seated.share());
      }
    }
    return new Called(now, shares);
  }

  private Seating without(String node) {
    SortedMap<Integer, String> all = new TreeMap<>(seats);
    all.values().removeIf(node::equals);
    return new Seating(
        placement,
        ranks,
        settled,
        all,
        waiting.stream().filter(one -> !one.node().equals(node)).toList());
  }

  private Seating with(int seat, String node) {
    SortedMap<Integer, String> all = new TreeMap<>(seats);
    all.put(seat, node);
    return new Seating(placement, ranks, settled, all, waiting);
  }

  private Seating with(Waiting one) {
    List<Waiting> all = new ArrayList<>(waiting);
    all.add(one);
    return new Seating(placement, ranks, settled, seats, all);
  }

  /** The seat that a node without one gets now. */
  private Optional<Integer> due(Waiting one) {
    List<Integer> free = free();
    if (one.before() >= 0) {
      return free.stream().filter(seat -> seat == one.before()).findFirst();
    }
    if (free.isEmpty() || (one.before() == Share.NOTHING.seat() && !settled)) {
      return Optional.empty();
    }
    int heads = placement.orElseThrow().headNode();
    return free.stream()
        .filter(seat -> (seat == heads) == one.besideHead())
        .findFirst()
        .or(() -> Optional.of(free.getFirst()));
  }

  /** What each node that is there does, by name. */
  public SortedMap<String, Share> shares() {
    SortedMap<String, Share> shares = new TreeMap<>();
    waiting.forEach(one -> shares.put(one.node(), Share.NOTHING));
    seats.forEach((seat, node) -> shares.put(node, share(seat)));
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

  private Share share(int seat) {
    Placement all = placement.orElseThrow();
    return new Share(
        seat,
        all.of(seat).stream()
            .filter(process -> process.role() instanceof Role.Rollout)
            .map(Assigned::gpus)
            .toList(),
        all.of(seat).stream().flatMap(process -> rank(process).stream()).toList(),
        all.of(seat).stream()
            .filter(process -> !(process.role() instanceof Role.Rollout))
            .filter(process -> rank(process).isEmpty())
            .flatMap(process -> process.gpus().stream())
            .toList(),
        all.idle().getOrDefault(seat, List.of()));
  }
}
