package io.troupe.hosts.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.hosts.placement.NodeAllocation.Allocated;
import io.troupe.hosts.placement.NodeAllocation.Reassigned;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class NodeAllocationTest {
  /** Node 0: T0 T1 - W0, node 1: - - W1 W2. */
  private static final Placement PLACEMENT =
      ((Placement.Outcome.Placed)
              Placement.processesOf(new PlacementRequest(2, 4, 2, 3, 1, 0, 1, false, 0)))
          .placement();

  private static final SortedMap<String, NodeAssignment> NONE = Collections.emptySortedMap();
  private static final int NEW = NodeAssignment.UNMANAGED.slot();
  private static final int SPARE = NodeAssignment.STANDBY.slot();

  private static final NodeAllocation FREE = NodeAllocation.of(Optional.of(PLACEMENT), false, true);

  /** Under a coordinator that continues the run. */
  private static final NodeAllocation NEXT =
      NodeAllocation.of(Optional.of(PLACEMENT), false, false);

  private static Allocated allocate(
      NodeAllocation seating, String node, boolean besideHead, int before) {
    return seating.allocate(new NodeAllocation.WaitingNode(node, besideHead, before));
  }

  private static int allocate(Reassigned called, String node) {
    return Objects.requireNonNull(called.assignments().get(node)).slot();
  }

  @Test
  void allocate_allNodes_getWhatThePlanDraws() {
    Allocated far = allocate(FREE, "far", false, NEW);
    Allocated near = allocate(far.allocation(), "near", true, NEW);
    assertThat(near.assignment())
        .isEqualTo(
            new NodeAssignment(0, List.of(List.of(3)), List.of(), List.of(0, 1), List.of(2)));
    assertThat(far.assignment())
        .isEqualTo(
            new NodeAssignment(
                1, List.of(List.of(2), List.of(3)), List.of(), List.of(), List.of(0, 1)));
    assertThat(far.assignment().text())
        .isEqualTo("node 1 of the placement: rollout workers on GPU 2, 3, idle: GPU 0, 1");

    List<NodeAssignment> shares = List.of(near.assignment(), far.assignment());
    assertThat(shares.stream().mapToInt(share -> share.workers().size()).sum())
        .isEqualTo(PLACEMENT.workers());
    IntStream.range(0, 2)
        .forEach(
            node ->
                assertThat(shares.get(node).idle())
                    .isEqualTo(PLACEMENT.idle().getOrDefault(node, List.of())));
  }

  @Test
  void allocate_nodesThatStartTheRanks_getTheirNumbersAndGpus() {
    NodeAssignment share =
        allocate(NodeAllocation.of(Optional.of(PLACEMENT), true, true), "near", true, NEW)
            .assignment();
    assertThat(share)
        .isEqualTo(
            new NodeAssignment(
                0,
                List.of(List.of(3)),
                List.of(
                    new NodeAssignment.AssignedRank(0, List.of(0)),
                    new NodeAssignment.AssignedRank(1, List.of(1))),
                List.of(),
                List.of(2)));
    assertThat(share.text())
        .isEqualTo(
            "node 0 of the placement: trainer rank 0 on GPU 0, trainer rank 1 on GPU 1, rollout"
                + " workers on GPU 3, idle: GPU 2");
  }

  @Test
  void allocate_coordinatorWithAGpu_isBesideTheNodeThatLeavesItOne() {
    Placement full =
        ((Placement.Outcome.Placed)
                Placement.processesOf(new PlacementRequest(2, 2, 2, 1, 1, 0, 1, true, 0)))
            .placement();
    NodeAllocation free = NodeAllocation.of(Optional.of(full), true, true);
    Allocated near = allocate(free, "near", true, NEW);
    assertThat(near.assignment())
        .isEqualTo(new NodeAssignment(1, List.of(List.of(1)), List.of(), List.of(0), List.of()));
    assertThat(near.assignment().text())
        .isEqualTo("node 1 of the placement: rollout workers on GPU 1, coordinator on GPU 0");
    assertThat(allocate(free, "far", false, NEW).assignment().ranks()).hasSize(2);
  }

  @Test
  void allocate_aThirdNode_isSpareUntilOneIsGone() {
    NodeAllocation two =
        allocate(allocate(FREE, "a", true, NEW).allocation(), "b", false, NEW).allocation();
    Allocated third = allocate(two, "c", false, NEW);
    assertThat(third.assignment()).isEqualTo(NodeAssignment.STANDBY);
    assertThat(allocate(third.allocation(), "b", false, NEW).assignment().slot()).isEqualTo(1);

    Reassigned called = third.allocation().left("a", false);
    assertThat(allocate(called, "c")).isZero();
    assertThat(called.allocation().slots()).isEqualTo(Map.of(0, "c", 1, "b"));
    assertThat(called.allocation().waiting()).isEmpty();
    assertThat(allocate(called.allocation(), "a", true, NEW).assignment())
        .isEqualTo(NodeAssignment.STANDBY);
  }

  @Test
  void allocate_underANewCoordinator_isTheSlotWhoseWorkersAreAtWorkOrNone() {
    assertThat(allocate(NEXT, "a", true, 1).assignment().slot()).isEqualTo(1);

    NodeAllocation taken = allocate(NEXT, "first", false, 1).allocation();
    Allocated late = allocate(taken, "a", true, 1);
    assertThat(late.assignment())
        .as("its workers end, and it asks as a spare")
        .isEqualTo(NodeAssignment.STANDBY);
    assertThat(late.allocation().allRegistered().assignments()).isEmpty();
    assertThat(
            allocate(
                allocate(late.allocation(), "a", true, SPARE).allocation().allRegistered(), "a"))
        .isZero();
  }

  @Test
  void allocate_aSpareOrNewNodeUnderANewCoordinator_waitsForNodesAtWork() {
    for (int idle : List.of(SPARE, NEW)) {
      Allocated spare = allocate(NEXT, "spare", true, idle);
      assertThat(spare.assignment()).isEqualTo(NodeAssignment.STANDBY);
      NodeAllocation first = allocate(spare.allocation(), "a", false, 0).allocation();
      assertThat(first.left("a", false).assignments()).as("b may still come").isEmpty();

      NodeAllocation all = allocate(first, "b", false, 1).allocation();
      assertThat(all.allRegistered().assignments()).isEmpty();
      assertThat(allocate(all.allRegistered().allocation().left("b", false), "spare")).isEqualTo(1);
      assertThat(allocate(first.allRegistered(), "spare")).as("b is gone").isEqualTo(1);
    }
  }

  @Test
  void rejected_slot_goesToTheNextNodeAndTheNodeToAnotherSlot() {
    NodeAllocation two =
        allocate(allocate(FREE, "a", true, NEW).allocation(), "b", false, NEW).allocation();
    NodeAllocation four =
        allocate(allocate(two, "c", false, NEW).allocation(), "d", false, NEW).allocation();
    assertThat(four.rejected("c", false, 1))
        .as("not its slot")
        .isEqualTo(new Reassigned(four, NONE));

    Reassigned next = four.rejected("b", false, 1);
    assertThat(next.assignments()).containsOnlyKeys("c");
    assertThat(allocate(next, "c")).isEqualTo(1);
    Reassigned last = next.allocation().left("c", false).allocation().rejected("d", false, 1);
    assertThat(last.assignments()).as("nobody is left who can").isEmpty();
    assertThat(allocate(last.allocation().left("a", false), "b")).as("another slot").isZero();
    assertThat(
            allocate(last.allocation().left("b", false).allocation(), "b", false, NEW)
                .assignment()
                .slot())
        .as("started again")
        .isEqualTo(1);
  }

  @Test
  void allocate_rejectedSlotAskedForAgain_isGivenIfItIsFree() {
    NodeAllocation two =
        allocate(allocate(FREE, "a", true, NEW).allocation(), "b", false, NEW).allocation();
    NodeAllocation alone = two.rejected("b", false, 1).allocation();
    assertThat(allocate(alone, "b", false, SPARE).assignment()).isEqualTo(NodeAssignment.STANDBY);
    assertThat(allocate(alone, "b", false, 1).assignment().slot()).isEqualTo(1);
    NodeAllocation taken = allocate(alone, "c", false, NEW).allocation();
    Allocated asked = allocate(taken, "b", false, 1);
    assertThat(asked.assignment()).as("node c has the slot").isEqualTo(NodeAssignment.STANDBY);
    assertThat(allocate(asked.allocation().left("c", false), "b")).isEqualTo(1);
  }

  @Test
  void left_theNodeOnTheCoordinatorsHost_keepsItsSlotForTheNodeStartedThereAgain() {
    NodeAllocation two =
        allocate(allocate(FREE, "a", true, NEW).allocation(), "b", false, NEW).allocation();
    NodeAllocation spare = allocate(two, "c", false, NEW).allocation();
    Reassigned called = spare.left("a", true);
    assertThat(called.assignments()).isEmpty();
    assertThat(called.allocation().allRegistered().assignments()).isEmpty();
    assertThat(allocate(called.allocation(), "a", true, NEW).assignment().slot()).isZero();
    assertThat(allocate(called.allocation().settle(), "c")).as("it did not come back").isZero();
    assertThat(allocate(called.allocation().left("b", false), "c")).as("another slot").isEqualTo(1);
  }

  @Test
  void settle_nodesThatWait_getTheSlotsThatSuitThem() {
    NodeAllocation far = allocate(NEXT, "far", false, NEW).allocation();
    Reassigned called =
        allocate(allocate(far, "farther", false, NEW).allocation(), "near", true, NEW)
            .allocation()
            .settle();
    assertThat(allocate(called, "near")).isZero();
    assertThat(allocate(called, "far")).isEqualTo(1);
    assertThat(called.allocation().waiting())
        .extracting(NodeAllocation.WaitingNode::node)
        .containsExactly("farther");
  }

  /** Seat 0 keeps GPUs 0 and 1 for the head, and allocate 1 has workers on 2 and 3. */
  @Test
  void allocate_nodeBesideTheCoordinator_isOfferedNoSlotWithAProcessOnTheCoordinatorsGpu() {
    NodeAllocation onTwo = FREE.coordinatorGpus(Set.of(2));
    NodeAllocation taken = allocate(onTwo, "far", false, NEW).allocation();
    assertThat(taken.slots()).containsOnlyKeys(1);
    assertThat(allocate(taken, "near", true, NEW).assignment().slot()).isZero();

    NodeAllocation first = allocate(taken, "farther", false, NEW).allocation();
    Allocated near = allocate(first, "near", true, NEW);
    assertThat(near.assignment()).isEqualTo(NodeAssignment.STANDBY);
    Reassigned called = near.allocation().left("far", false);
    assertThat(called.assignments()).as("its workers would be on the head's GPU").isEmpty();
    assertThat(allocate(called.allocation(), "new", false, NEW).assignment().slot()).isEqualTo(1);
    assertThat(allocate(called.allocation().left("farther", false), "near")).isZero();
    assertThat(allocate(onTwo, "near", true, 1).assignment().slot())
        .as("it is at work there")
        .isEqualTo(1);
  }

  @Test
  void allocate_rankOnTheCoordinatorsGpu_isNotForTheNodeBesideTheCoordinator() {
    NodeAllocation ranks =
        NodeAllocation.of(Optional.of(PLACEMENT), true, true).coordinatorGpus(Set.of(0));
    assertThat(allocate(ranks, "near", true, NEW).assignment().slot()).isEqualTo(1);
    assertThat(allocate(ranks, "far", false, NEW).assignment().slot()).isEqualTo(1);
  }

  @Test
  void allocate_withoutAPlacement_leavesTheProcessesToTheNode() {
    Allocated seated = allocate(NodeAllocation.of(Optional.empty(), false, true), "a", true, NEW);
    assertThat(seated.assignment().placed()).isFalse();
    assertThat(seated.allocation().assignments()).isEmpty();
  }
}
