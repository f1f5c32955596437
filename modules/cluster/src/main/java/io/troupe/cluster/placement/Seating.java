package io.troupe.cluster.placement;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Which node of the cluster is which node of the placement. Pure.
 *
 * <p>The trainer runs in the head's process, or sends every step to its ranks, and the placement
 * says which node is the head's host ({@link Placement#headNode}): the node there gets that seat,
 * the others the rest, and that one last.
 *
 * <p><b>Invariant</b>: a seat is given to a node that takes it up. One that is at work at a seat
 * under a former head of the run gets that one or none; any other waits until those at work have
 * had the time to say so, and takes up whichever seat comes free. A seat that its node cannot take
 * up goes to the next one, and to that one no more.
 *
 * <p>The head has GPUs of its host, so a node there is offered no seat that has a process on one of
 * them, and another one at the head's seat leaves the head's GPU idle: when the node on the head's
 * host is gone, its seat is kept for a while for the one that is started there again.
 *
 * @param placement none where nodes decide by themselves
 * @param ranks whether the nodes start the trainer's ranks, and not the head
 * @param settled whether all nodes that were at work under a former head have said so
 * @param kept whether the head's seat is kept for a node on the head's host
 * @param seats by number, the names of who has them
 * @param waiting nodes without one, who came first at first
 * @param unfit by name, the seats that nodes could not take up
 * @param headOn GPUs of its host that the head computes on; empty if that is not known
 */
public record Seating(
    Optional<Placement> placement,
    boolean ranks,
    boolean settled,
    boolean kept,
    SortedMap<Integer, String> seats,
    List<Waiting> waiting,
    Map<String, Set<Integer>> unfit,
    Set<Integer> headOn) {
  public Seating {
    headOn = Set.copyOf(headOn);
    seats = Collections.unmodifiableSortedMap(new TreeMap<>(seats));
    waiting = List.copyOf(waiting);
    unfit =
        unfit.entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(
                    Map.Entry::getKey, entry -> Set.copyOf(entry.getValue())));
  }

  /**
   * With all seats free.
   *
   * @param begins whether the run begins, so that no node is at work for it yet
   */
  public static Seating of(Optional<Placement> placement, boolean ranks, boolean begins) {
    return new Seating(
        placement,
        ranks,
        begins,
        false,
        Collections.emptySortedMap(),
        List.of(),
        Map.of(),
        Set.of());
  }

  /** The same where the head computes on these GPUs of its host. */
  public Seating headOn(Set<Integer> gpus) {
    return new Seating(placement, ranks, settled, kept, seats, waiting, unfit, gpus);
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
    return absent(one.node()).seat(one, true);
  }

  /**
   * Seats a node that has no seat and does not wait.
   *
   * @param any whether it may get a seat that suits another one better
   */
  private Seated seat(Waiting one, boolean any) {
    return due(one, any)
        .map(seat -> new Seated(with(seat, one.node()), share(seat)))
        .orElseGet(() -> new Seated(with(one), Share.NOTHING));
  }

  /**
   * A node is gone; its seat is free.
   *
   * @param besideHead whether it was on the head's host
   */
  public Called left(String node, boolean besideHead) {
    boolean headsSeat = placement.map(all -> node.equals(seats.get(all.headNode()))).orElse(false);
    Map<String, Set<Integer>> others = new TreeMap<>(unfit);
    others.remove(node);
    Seating left = absent(node);
    return new Seating(
            placement,
            ranks,
            settled,
            kept || (headsSeat && besideHead),
            left.seats,
            left.waiting,
            others,
            headOn)
        .call();
  }

  /** A node cannot take up a seat, which is free for the others; it waits for another one. */
  public Called unfit(String node, boolean besideHead, int seat) {
    if (!node.equals(seats.get(seat))) {
      return new Called(this, Collections.emptySortedMap());
    }
    Map<String, Set<Integer>> all = new TreeMap<>(unfit);
    all.merge(
        node,
        Set.of(seat),
        (those, one) ->
            IntStream.concat(those.stream().mapToInt(i -> i), one.stream().mapToInt(i -> i))
                .boxed()
                .collect(Collectors.toSet()));
    Seating without = absent(node);
    return new Seating(placement, ranks, settled, kept, without.seats, without.waiting, all, headOn)
        .with(new Waiting(node, besideHead, Share.NOTHING.seat()))
        .call();
  }

  /** Who was at work under a former head has come by now. */
  public Called attended() {
    return new Seating(placement, ranks, true, kept, seats, waiting, unfit, headOn).call();
  }

  /** The same, and no seat is kept any more. */
  public Called settle() {
    return new Seating(placement, ranks, true, false, seats, waiting, unfit, headOn).call();
  }

  /** Each of those that wait gets the seat that suits it; then what is left goes by turn. */
  private Called call() {
    Seating now = this;
    SortedMap<String, Share> shares = new TreeMap<>();
    for (boolean any : List.of(false, true)) {
      for (Waiting one : now.waiting) {
        Seated seated = now.absent(one.node()).seat(one, any);
        now = seated.seating();
        if (seated.share().seated()) {
          shares.put(one.node(), seated.share());
        }
      }
    }
    return new Called(now, shares);
  }

  /** Without a node, among those with a seat and among those that wait. */
  private Seating absent(String node) {
    SortedMap<Integer, String> all = new TreeMap<>(seats);
    all.values().removeIf(node::equals);
    return new Seating(
        placement,
        ranks,
        settled,
        kept,
        all,
        waiting.stream().filter(one -> !one.node().equals(node)).toList(),
        unfit,
        headOn);
  }

  private Seating with(int seat, String node) {
    SortedMap<Integer, String> all = new TreeMap<>(seats);
    all.put(seat, node);
    return new Seating(placement, ranks, settled, kept, all, waiting, unfit, headOn);
  }

  private Seating with(Waiting one) {
    List<Waiting> all = new ArrayList<>(waiting);
    all.add(one);
    return new Seating(placement, ranks, settled, kept, seats, all, unfit, headOn);
  }

  /** The seat that a node without one gets now. */
  private Optional<Integer> due(Waiting one, boolean any) {
    List<Integer> free = free(unfit.getOrDefault(one.node(), Set.of()));
    if (one.before() >= 0) {
      return free.stream().filter(seat -> seat == one.before()).findFirst();
    }
    if (!settled) {
      return Optional.empty();
    }
    int heads = placement.orElseThrow().headNode();
    List<Integer> apart =
        free.stream().filter(seat -> !one.besideHead() || leavesHead(share(seat))).toList();
    return apart.stream()
        .filter(seat -> (seat == heads) == one.besideHead())
        .findFirst()
        .or(() -> apart.stream().filter(seat -> any && !(kept && seat == heads)).findFirst());
  }

  /** Whether no process of a seat has a GPU that the head has, where they are on one host. */
  private boolean leavesHead(Share share) {
    return Stream.concat(share.workers().stream(), share.ranks().stream().map(Share.Rank::gpus))
        .flatMap(List::stream)
        .noneMatch(headOn::contains);
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

  private List<Integer> free(Set<Integer> unfit) {
    return IntStream.range(0, placement.orElseThrow().demand().nodes())
        .filter(seat -> !seats.containsKey(seat) && !unfit.contains(seat))
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
