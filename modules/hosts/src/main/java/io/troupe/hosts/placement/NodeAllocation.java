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
 * The assignment of the placement's slots to nodes of the cluster. Pure.
 *
 * <p>The trainer runs in the coordinator's process or sends every step to its ranks, and the
 * placement says which slot is on the coordinator's host ({@link Placement#coordinatorNode}). The
 * node on that host gets this slot; other nodes get the other slots first, and this one last.
 *
 * <p><b>Invariant</b>: every slot goes to a node that can take it. A node that works in a slot
 * under a former coordinator of the run gets that slot or none. Every other node waits until the
 * working nodes have had the time to register, and takes any free slot. A slot that its node
 * rejects goes to another node, and to the same node only once that node asks for it.
 *
 * <p>The coordinator uses GPUs of its host, so a node on that host gets no slot with a process on
 * one of them, and a node of another host in the coordinator's slot leaves the coordinator's GPU
 * idle. When the node on the coordinator's host is gone, its slot is therefore reserved for a while
 * for a restarted node.
 *
 * @param placement empty if the nodes choose their processes themselves
 * @param ranks whether the nodes, and not the coordinator, start the trainer's ranks
 * @param settled whether all nodes that worked under a former coordinator have had the time to
 *     register
 * @param coordinatorSlotKept whether the coordinator's slot is reserved for a node on the
 *     coordinator's host
 * @param slots names of the nodes in the slots, by slot
 * @param waiting nodes without a slot, in the order of registration
 * @param rejected slots that nodes have rejected, by name
 * @param coordinatorGpus GPUs of its host that the coordinator computes on; empty if they are not
 *     known
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
   * An allocation with free slots only.
   *
   * @param newRun whether the run starts now, so that no node works for it yet
   */
  public static NodeAllocation of(Optional<Placement> placement, boolean ranks, boolean newRun) {
    return new NodeAllocation(
        placement,
        ranks,
        newRun,
        false,
        Collections.emptySortedMap(),
        List.of(),
        Map.of(),
        Set.of());
  }

  /** Returns this allocation with the GPUs of its host that the coordinator computes on. */
  public NodeAllocation coordinatorGpus(Set<Integer> gpus) {
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, slots, waiting, rejected, gpus);
  }

  /**
   * A node that needs a slot.
   *
   * @param onCoordinatorHost whether the node is on the coordinator's host
   * @param previousSlot {@link NodeAssignment#slot} of its assignment under a former coordinator of
   *     the run
   */
  public record WaitingNode(String node, boolean onCoordinatorHost, int previousSlot) {}

  /** The allocation with a node added, and the node's assignment. */
  public record Allocated(NodeAllocation allocation, NodeAssignment assignment) {}

  /**
   * The allocation after slots became free.
   *
   * @param assignments new assignments of nodes that waited, by name
   */
  public record Reassigned(
      NodeAllocation allocation, SortedMap<String, NodeAssignment> assignments) {
    public Reassigned {
      assignments = Collections.unmodifiableSortedMap(new TreeMap<>(assignments));
    }
  }

  /**
   * Assigns a slot to a node. A node keeps the slot that it has, and waits if it gets none. One
   * that asks for the slot that it has rejected gets that slot, if it is free.
   */
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
    return without(one.node()).withoutRejection(one).allocate(one, true);
  }

  private NodeAllocation withoutRejection(WaitingNode one) {
    Map<String, Set<Integer>> others = new TreeMap<>(rejected);
    others.computeIfPresent(
        one.node(),
        (_, all) ->
            all.stream().filter(slot -> slot != one.previousSlot()).collect(Collectors.toSet()));
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, slots, waiting, others, coordinatorGpus);
  }

  /**
   * Assigns a slot to a node that has none and does not wait.
   *
   * @param any whether the node may get a slot that suits another node better
   */
  private Allocated allocate(WaitingNode one, boolean any) {
    return slotFor(one, any)
        .map(slot -> new Allocated(with(slot, one.node()), assignment(slot)))
        .orElseGet(() -> new Allocated(with(one), NodeAssignment.STANDBY));
  }

  /**
   * A node is gone, and its slot is free.
   *
   * @param onCoordinatorHost whether the node was on the coordinator's host
   */
  public Reassigned left(String node, boolean onCoordinatorHost) {
    boolean inCoordinatorSlot =
        placement.map(all -> node.equals(slots.get(all.coordinatorNode()))).orElse(false);
    Map<String, Set<Integer>> others = new TreeMap<>(rejected);
    others.remove(node);
    NodeAllocation left = without(node);
    return new NodeAllocation(
            placement,
            ranks,
            settled,
            coordinatorSlotKept || (inCoordinatorSlot && onCoordinatorHost),
            left.slots,
            left.waiting,
            others,
            coordinatorGpus)
        .reassign();
  }

  /** A node rejects its slot, which is free for other nodes, and waits for another slot. */
  public Reassigned rejected(String node, boolean onCoordinatorHost, int slot) {
    if (!node.equals(slots.get(slot))) {
      return new Reassigned(this, Collections.emptySortedMap());
    }
    Map<String, Set<Integer>> all = new TreeMap<>(rejected);
    all.merge(
        node,
        Set.of(slot),
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
        .with(new WaitingNode(node, onCoordinatorHost, NodeAssignment.STANDBY.slot()))
        .reassign();
  }

  /** Every node that worked under a former coordinator has registered. */
  public Reassigned allRegistered() {
    return new NodeAllocation(
            placement, ranks, true, coordinatorSlotKept, slots, waiting, rejected, coordinatorGpus)
        .reassign();
  }

  /** Changes the allocation as {@link #allRegistered} does, and frees the coordinator's slot. */
  public Reassigned settle() {
    return new NodeAllocation(
            placement, ranks, true, false, slots, waiting, rejected, coordinatorGpus)
        .reassign();
  }

  /**
   * Gives each waiting node the slot that suits it, then the remaining slots in the order of
   * waiting.
   */
  private Reassigned reassign() {
    NodeAllocation now = this;
    SortedMap<String, NodeAssignment> assignments = new TreeMap<>();
    for (boolean any : List.of(false, true)) {
      for (WaitingNode one : now.waiting) {
        Allocated allocated = now.without(one.node()).allocate(one, any);
        now = allocated.allocation();
        if (allocated.assignment().hasSlot()) {
          assignments.put(one.node(), allocated.assignment());
        }
      }
    }
    return new Reassigned(now, assignments);
  }

  /** Removes a node from the slots and from the waiting nodes. */
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

  private NodeAllocation with(int slot, String node) {
    SortedMap<Integer, String> all = new TreeMap<>(slots);
    all.put(slot, node);
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, all, waiting, rejected, coordinatorGpus);
  }

  private NodeAllocation with(WaitingNode one) {
    List<WaitingNode> all = new ArrayList<>(waiting);
    all.add(one);
    return new NodeAllocation(
        placement, ranks, settled, coordinatorSlotKept, slots, all, rejected, coordinatorGpus);
  }

  /** The slot that a node without one gets now. */
  private Optional<Integer> slotFor(WaitingNode one, boolean any) {
    List<Integer> free = free(rejected.getOrDefault(one.node(), Set.of()));
    if (one.previousSlot() >= 0) {
      return free.stream().filter(slot -> slot == one.previousSlot()).findFirst();
    }
    if (!settled) {
      return Optional.empty();
    }
    int coordinatorSlot = placement.orElseThrow().coordinatorNode();
    List<Integer> apart =
        free.stream()
            .filter(slot -> !one.onCoordinatorHost() || sparesCoordinatorGpus(assignment(slot)))
            .toList();
    return apart.stream()
        .filter(slot -> (slot == coordinatorSlot) == one.onCoordinatorHost())
        .findFirst()
        .or(
            () ->
                apart.stream()
                    .filter(slot -> any && !(coordinatorSlotKept && slot == coordinatorSlot))
                    .findFirst());
  }

  /**
   * Whether no process of an assignment uses a GPU of the coordinator, given that both are on one
   * host.
   */
  private boolean sparesCoordinatorGpus(NodeAssignment assignment) {
    return Stream.concat(
            assignment.workers().stream(),
            assignment.ranks().stream().map(NodeAssignment.AssignedRank::gpus))
        .flatMap(List::stream)
        .noneMatch(coordinatorGpus::contains);
  }

  /** The assignment of every present node, by name. */
  public SortedMap<String, NodeAssignment> assignments() {
    SortedMap<String, NodeAssignment> assignments = new TreeMap<>();
    waiting.forEach(one -> assignments.put(one.node(), NodeAssignment.STANDBY));
    slots.forEach((slot, node) -> assignments.put(node, assignment(slot)));
    return assignments;
  }

  private Optional<NodeAssignment.AssignedRank> rank(PlacedProcess process) {
    return ranks && process.role() instanceof ProcessRole.Trainer(int number)
        ? Optional.of(new NodeAssignment.AssignedRank(number, process.gpus()))
        : Optional.empty();
  }

  private List<Integer> free(Set<Integer> rejectedSlots) {
    return IntStream.range(0, placement.orElseThrow().demand().nodes())
        .filter(slot -> !slots.containsKey(slot) && !rejectedSlots.contains(slot))
        .boxed()
        .toList();
  }

  private NodeAssignment assignment(int slot) {
    Placement all = placement.orElseThrow();
    return new NodeAssignment(
        slot,
        all.processesOf(slot).stream()
            .filter(process -> process.role() instanceof ProcessRole.Rollout)
            .map(PlacedProcess::gpus)
            .toList(),
        all.processesOf(slot).stream().flatMap(process -> rank(process).stream()).toList(),
        all.processesOf(slot).stream()
            .filter(process -> !(process.role() instanceof ProcessRole.Rollout))
            .filter(process -> !(process.role() instanceof ProcessRole.Evaluation))
            .filter(process -> rank(process).isEmpty())
            .flatMap(process -> process.gpus().stream())
            .toList(),
        all.idle().getOrDefault(slot, List.of()));
  }
}
