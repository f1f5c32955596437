package io.troupe.hosts.placement;

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
 * says which node is the head's host ({@link Placement#coordinatorNode}): the node there gets that
 * seat, the others the rest, and that one last.
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
 * @param coordinatorSlotKept whether the head's seat is kept for a node on the head's host
 * @param slots by number, the names of who has them
 * @param waiting nodes without one, who came first at first
 * @param rejected by name, the seats that nodes could not take up
 * @param coordinatorGpus GPUs of its host that the head computes on; empty if that is not known
 */
public record NodeAllocation(
    Optional<Placement> placement,
    boolean ranks,
    boolean settled,
    boolean coordinatorSlotKept,
    SortedMap<Integer, String> slots,
    List<WaitingNode> waiting,
    Map<String, Set<Integer>> rejected,
    Set<Integer> coordinatorGpus) {
  public NodeAllocation {
    coordinatorGpus = Set.copyOf(coordinatorGpus);
    slots = Collections.unmodifiableSortedMap(new TreeMap<>(slots));
    waiting = List.copyOf(waiting);
    rejected =
        rejected.entrySet().stream()
            .collect(
                Collectors.toUnmodifiableMap(
                    Map.Entry::getKey, entry -> Set.copyOf(entry.getValue())));
  }

  /**
   * With all seats free.
   *
   * @param begins whether the run begins, so that no node is at work for it yet
   */
  public static NodeAllocation of(Optional<Placement> placement, boolean ranks, boolean begins) {
    return new NodeAllocation(
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
  public NodeAllocation coordinatorGpus(Set<Integer> gpus) {
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, slots, waiting, rejected, gpus);
  }

  /**
   * A node that wants a seat.
   *
   * @param onCoordinatorHost whether it is on the head's host
   * @param previousSlot {@link NodeAssignment#slot} of what it does under a former head of the run
   */
  public record WaitingNode(String node, boolean onCoordinatorHost, int previousSlot) {}

  /** A node took a seat, or none. */
  public record Allocated(NodeAllocation allocation, NodeAssignment assignment) {}

  /**
   * Seats came free.
   *
   * @param assignments what nodes that waited do from now on, by name
   */
  public record Reassigned(
      NodeAllocation allocation, SortedMap<String, NodeAssignment> assignments) {
    public Reassigned {
      assignments = Collections.unmodifiableSortedMap(new TreeMap<>(assignments));
    }
  }

  /** Seats a node; one that has a seat keeps it, and one that gets none waits. */
  public Allocated allocate(WaitingNode one) {
    if (placement.isEmpty()) {
      return new Allocated(this, NodeAssignment.UNMANAGED);
    }
    Optional<Integer> has =
        slots.entrySet().stream()
            .filter(entry -> entry.getValue().equals(one.node()))
            .map(Map.Entry::getKey)
            .findFirst();
    if (has.isPresent()) {
      return new Allocated(this, assignment(has.get()));
    }
    return without(one.node()).allocate(one, true);
  }

  /**
   * Seats a node that has no seat and does not wait.
   *
   * @param any whether it may get a seat that suits another one better
   */
  private Allocated allocate(WaitingNode one, boolean any) {
    return slotFor(one, any)
        .map(seat -> new Allocated(with(seat, one.node()), assignment(seat)))
        .orElseGet(() -> new Allocated(with(one), NodeAssignment.STANDBY));
  }

  /**
   * A node is gone; its seat is free.
   *
   * @param besideHead whether it was on the head's host
   */
  public Reassigned left(String node, boolean besideHead) {
    boolean headsSeat =
        placement.map(all -> node.equals(slots.get(all.coordinatorNode()))).orElse(false);
    Map<String, Set<Integer>> others = new TreeMap<>(rejected);
    others.remove(node);
    NodeAllocation left = without(node);
    return new NodeAllocation(
            placement,
            ranks,
            settled,
            coordinatorSlotKept || (headsSeat && besideHead),
            left.slots,
            left.waiting,
            others,
            coordinatorGpus)
        .reassign();
  }

  /** A node cannot take up a seat, which is free for the others; it waits for another one. */
  public Reassigned rejected(String node, boolean besideHead, int seat) {
    if (!node.equals(slots.get(seat))) {
      return new Reassigned(this, Collections.emptySortedMap());
    }
    Map<String, Set<Integer>> all = new TreeMap<>(rejected);
    all.merge(
        node,
        Set.of(seat),
        (those, one) ->
            IntStream.concat(those.stream().mapToInt(i -> i), one.stream().mapToInt(i -> i))
                .boxed()
                .collect(Collectors.toSet()));
    NodeAllocation without = without(node);
    return new NodeAllocation(
            placement,
            ranks,
            settled,
            coordinatorSlotKept,
            without.slots,
            without.waiting,
            all,
            coordinatorGpus)
        .with(new WaitingNode(node, besideHead, NodeAssignment.STANDBY.slot()))
        .reassign();
  }

  /** Who was at work under a former head has come by now. */
  public Reassigned allRegistered() {
    return new NodeAllocation(
            placement, ranks, true, coordinatorSlotKept, slots, waiting, rejected, coordinatorGpus)
        .reassign();
  }

  /** The same, and no seat is kept any more. */
  public Reassigned settle() {
    return new NodeAllocation(
            placement, ranks, true, false, slots, waiting, rejected, coordinatorGpus)
        .reassign();
  }

  /** Each of those that wait gets the seat that suits it; then what is left goes by turn. */
  private Reassigned reassign() {
    NodeAllocation now = this;
    SortedMap<String, NodeAssignment> shares = new TreeMap<>();
    for (boolean any : List.of(false, true)) {
      for (WaitingNode one : now.waiting) {
        Allocated seated = now.without(one.node()).allocate(one, any);
        now = seated.allocation();
        if (seated.assignment().hasSlot()) {
          shares.put(one.node(), seated.assignment());
        }
      }
    }
    return new Reassigned(now, shares);
  }

  /** Without a node, among those with a seat and among those that wait. */
  private NodeAllocation without(String node) {
    SortedMap<Integer, String> all = new TreeMap<>(slots);
    all.values().removeIf(node::equals);
    return new NodeAllocation(
        placement,
        ranks,
        settled,
        coordinatorSlotKept,
        all,
        waiting.stream().filter(one -> !one.node().equals(node)).toList(),
        rejected,
        coordinatorGpus);
  }

  private NodeAllocation with(int seat, String node) {
    SortedMap<Integer, String> all = new TreeMap<>(slots);
    all.put(seat, node);
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, all, waiting, rejected, coordinatorGpus);
  }

  private NodeAllocation with(WaitingNode one) {
    List<WaitingNode> all = new ArrayList<>(waiting);
    all.add(one);
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, slots, all, rejected, coordinatorGpus);
  }

  /** The seat that a node without one gets now. */
  private Optional<Integer> slotFor(WaitingNode one, boolean any) {
    List<Integer> free = free(rejected.getOrDefault(one.node(), Set.of()));
    if (one.previousSlot() >= 0) {
      return free.stream().filter(seat -> seat == one.previousSlot()).findFirst();
    }
    if (!settled) {
      return Optional.empty();
    }
    int heads = placement.orElseThrow().coordinatorNode();
    List<Integer> apart =
        free.stream()
            .filter(seat -> !one.onCoordinatorHost() || sparesCoordinatorGpus(assignment(seat)))
            .toList();
    return apart.stream()
        .filter(seat -> (seat == heads) == one.onCoordinatorHost())
        .findFirst()
        .or(
            () ->
                apart.stream()
                    .filter(seat -> any && !(coordinatorSlotKept && seat == heads))
                    .findFirst());
  }

  /** Whether no process of a seat has a GPU that the head has, where they are on one host. */
  private boolean sparesCoordinatorGpus(NodeAssignment share) {
    return Stream.concat(
            share.workers().stream(), share.ranks().stream().map(NodeAssignment.AssignedRank::gpus))
        .flatMap(List::stream)
        .noneMatch(coordinatorGpus::contains);
  }

  /** What each node that is there does, by name. */
  public SortedMap<String, NodeAssignment> assignments() {
    SortedMap<String, NodeAssignment> shares = new TreeMap<>();
    waiting.forEach(one -> shares.put(one.node(), NodeAssignment.STANDBY));
    slots.forEach((seat, node) -> shares.put(node, assignment(seat)));
    return shares;
  }

  private Optional<NodeAssignment.AssignedRank> rank(PlacedProcess process) {
    return ranks && process.role() instanceof ProcessRole.Trainer(int number)
        ? Optional.of(new NodeAssignment.AssignedRank(number, process.gpus()))
        : Optional.empty();
  }

  private List<Integer> free(Set<Integer> unfit) {
    return IntStream.range(0, placement.orElseThrow().demand().nodes())
        .filter(seat -> !slots.containsKey(seat) && !unfit.contains(seat))
        .boxed()
        .toList();
  }

  private NodeAssignment assignment(int seat) {
    Placement all = placement.orElseThrow();
    return new NodeAssignment(
        seat,
        all.processesOf(seat).stream()
            .filter(process -> process.role() instanceof ProcessRole.Rollout)
            .map(PlacedProcess::gpus)
            .toList(),
        all.processesOf(seat).stream().flatMap(process -> rank(process).stream()).toList(),
        all.processesOf(seat).stream()
            .filter(process -> !(process.role() instanceof ProcessRole.Rollout))
            .filter(process -> rank(process).isEmpty())
            .flatMap(process -> process.gpus().stream())
            .toList(),
        all.idle().getOrDefault(seat, List.of()));
  }
}
