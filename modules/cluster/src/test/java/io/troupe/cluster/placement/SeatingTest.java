package io.troupe.cluster.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.placement.Seating.Called;
import io.troupe.cluster.placement.Seating.Seated;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SeatingTest {
  /** Node 0: T0 T1 - W0, node 1: - - W1 W2. */
  private static final Placement PLACEMENT =
      ((Placement.Outcome.Placed) Placement.of(new Demand(2, 4, 2, 3, 1, 0, 1, false))).placement();

  private static final SortedMap<String, Share> NONE = Collections.emptySortedMap();
  private static final int NEW = Share.OWN.seat();
  private static final int SPARE = Share.NOTHING.seat();

  private static final Seating FREE = Seating.of(Optional.of(PLACEMENT), false, true);

  /** Under a head that goes on with the run. */
  private static final Seating NEXT = Seating.of(Optional.of(PLACEMENT), false, false);

  private static Seated seat(Seating seating, String node, boolean besideHead, int before) {
    return seating.seat(new Seating.Waiting(node, besideHead, before));
  }

  private static int seat(Called called, String node) {
    return Objects.requireNonNull(called.shares().get(node)).seat();
  }

  @Test
  void seat_allNodes_getWhatThePlanDraws() {
    Seated far = seat(FREE, "far", false, NEW);
    Seated near = seat(far.seating(), "near", true, NEW);
    assertThat(near.share())
        .isEqualTo(new Share(0, List.of(List.of(3)), List.of(), List.of(0, 1), List.of(2)));
    assertThat(far.share())
        .isEqualTo(
            new Share(1, List.of(List.of(2), List.of(3)), List.of(), List.of(), List.of(0, 1)));
    assertThat(far.share().text())
        .isEqualTo("node 1 of the placement: rollout workers on GPU 2, 3, idle: GPU 0, 1");

    List<Share> shares = List.of(near.share(), far.share());
    assertThat(shares.stream().mapToInt(share -> share.workers().size()).sum())
        .isEqualTo(PLACEMENT.workers());
    IntStream.range(0, 2)
        .forEach(
            node ->
                assertThat(shares.get(node).idle())
                    .isEqualTo(PLACEMENT.idle().getOrDefault(node, List.of())));
  }

  @Test
  void seat_nodesThatStartTheRanks_getTheirNumbersAndGpus() {
    Share share = seat(Seating.of(Optional.of(PLACEMENT), true, true), "near", true, NEW).share();
    assertThat(share)
        .isEqualTo(
            new Share(
                0,
                List.of(List.of(3)),
                List.of(new Share.Rank(0, List.of(0)), new Share.Rank(1, List.of(1))),
                List.of(),
                List.of(2)));
    assertThat(share.text())
        .isEqualTo(
            "node 0 of the placement: trainer rank 0 on GPU 0, trainer rank 1 on GPU 1, rollout"
                + " workers on GPU 3, idle: GPU 2");
  }

  @Test
  void seat_aHeadWithAGpu_isBesideTheNodeThatLeavesItOne() {
    Placement full =
        ((Placement.Outcome.Placed) Placement.of(new Demand(2, 2, 2, 1, 1, 0, 1, true)))
            .placement();
    Seating free = Seating.of(Optional.of(full), true, true);
    Seated near = seat(free, "near", true, NEW);
    assertThat(near.share())
        .isEqualTo(new Share(1, List.of(List.of(1)), List.of(), List.of(0), List.of()));
    assertThat(near.share().text())
        .isEqualTo("node 1 of the placement: rollout workers on GPU 1, head on GPU 0");
    assertThat(seat(free, "far", false, NEW).share().ranks()).hasSize(2);
  }

  @Test
  void seat_aThirdNode_isSpareUntilOneIsGone() {
    Seating two = seat(seat(FREE, "a", true, NEW).seating(), "b", false, NEW).seating();
    Seated third = seat(two, "c", false, NEW);
    assertThat(third.share()).isEqualTo(Share.NOTHING);
    assertThat(seat(third.seating(), "b", false, NEW).share().seat()).isEqualTo(1);

    Called called = third.seating().left("a", false);
    assertThat(seat(called, "c")).isZero();
    assertThat(called.seating().seats()).isEqualTo(Map.of(0, "c", 1, "b"));
    assertThat(called.seating().waiting()).isEmpty();
    assertThat(seat(called.seating(), "a", true, NEW).share()).isEqualTo(Share.NOTHING);
  }

  @Test
  void seat_underANewHead_isTheOneWhoseWorkersAreAtWorkOrNone() {
    assertThat(seat(NEXT, "a", true, 1).share().seat()).isEqualTo(1);

    Seating taken = seat(NEXT, "first", false, 1).seating();
    Seated late = seat(taken, "a", true, 1);
    assertThat(late.share()).as("its workers end, and it asks as a spare").isEqualTo(Share.NOTHING);
    assertThat(late.seating().attended().shares()).isEmpty();
    assertThat(seat(seat(late.seating(), "a", true, SPARE).seating().attended(), "a")).isZero();
  }

  @Test
  void seat_aSpareOrNewNodeUnderANewHead_waitsForThoseAtWork() {
    for (int idle : List.of(SPARE, NEW)) {
      Seated spare = seat(NEXT, "spare", true, idle);
      assertThat(spare.share()).isEqualTo(Share.NOTHING);
      Seating first = seat(spare.seating(), "a", false, 0).seating();
      assertThat(first.left("a", false).shares()).as("b may still come").isEmpty();

      Seating all = seat(first, "b", false, 1).seating();
      assertThat(all.attended().shares()).isEmpty();
      assertThat(seat(all.attended().seating().left("b", false), "spare")).isEqualTo(1);
      assertThat(seat(first.attended(), "spare")).as("b is gone").isEqualTo(1);
    }
  }

  @Test
  void unfit_aNode_isCalledToAnotherSeatAndTheNextOneToThatOne() {
    Seating two = seat(seat(FREE, "a", true, NEW).seating(), "b", false, NEW).seating();
    Seating four = seat(seat(two, "c", false, NEW).seating(), "d", false, NEW).seating();
    assertThat(four.unfit("c", false, 1)).as("not its seat").isEqualTo(new Called(four, NONE));

    Called next = four.unfit("b", false, 1);
    assertThat(next.shares()).containsOnlyKeys("c");
    assertThat(seat(next, "c")).isEqualTo(1);
    Called last = next.seating().left("c", false).seating().unfit("d", false, 1);
    assertThat(last.shares()).as("nobody is left who can").isEmpty();
    assertThat(seat(last.seating().left("a", false), "b")).as("another seat").isZero();
    assertThat(seat(last.seating().left("b", false).seating(), "b", false, NEW).share().seat())
        .as("started again")
        .isEqualTo(1);
  }

  @Test
  void left_theNodeOnTheHeadsHost_keepsItsSeatForTheOneStartedThereAgain() {
    Seating two = seat(seat(FREE, "a", true, NEW).seating(), "b", false, NEW).seating();
    Seating spare = seat(two, "c", false, NEW).seating();
    Called called = spare.left("a", true);
    assertThat(called.shares()).isEmpty();
    assertThat(called.seating().attended().shares()).isEmpty();
    assertThat(seat(called.seating(), "a", true, NEW).share().seat()).isZero();
    assertThat(seat(called.seating().settle(), "c")).as("it did not come back").isZero();
    assertThat(seat(called.seating().left("b", false), "c")).as("another seat").isEqualTo(1);
  }

  @Test
  void settle_nodesThatWait_getTheSeatsThatSuitThem() {
    Seating far = seat(NEXT, "far", false, NEW).seating();
    Called called =
        seat(seat(far, "farther", false, NEW).seating(), "near", true, NEW).seating().settle();
    assertThat(seat(called, "near")).isZero();
    assertThat(seat(called, "far")).isEqualTo(1);
    assertThat(called.seating().waiting())
        .extracting(Seating.Waiting::node)
        .containsExactly("farther");
  }

  /** Seat 0 keeps GPUs 0 and 1 for the head, and seat 1 has workers on 2 and 3. */
  @Test
  void seat_nodeBesideTheHead_isOfferedNoneThatHasAProcessOnTheHeadsGpu() {
    Seating onTwo = FREE.headOn(Set.of(2));
    Seating taken = seat(onTwo, "far", false, NEW).seating();
    assertThat(taken.seats()).containsOnlyKeys(1);
    assertThat(seat(taken, "near", true, NEW).share().seat()).isZero();

    Seating first = seat(taken, "farther", false, NEW).seating();
    Seated near = seat(first, "near", true, NEW);
    assertThat(near.share()).isEqualTo(Share.NOTHING);
    Called called = near.seating().left("far", false);
    assertThat(called.shares()).as("its workers would be on the head's GPU").isEmpty();
    assertThat(seat(called.seating(), "new", false, NEW).share().seat()).isEqualTo(1);
    assertThat(seat(called.seating().left("farther", false), "near")).isZero();
    assertThat(seat(onTwo, "near", true, 1).share().seat()).as("it is at work there").isEqualTo(1);
  }

  @Test
  void seat_rankOnTheHeadsGpu_isNotForTheNodeBesideTheHead() {
    Seating ranks = Seating.of(Optional.of(PLACEMENT), true, true).headOn(Set.of(0));
    assertThat(seat(ranks, "near", true, NEW).share().seat()).isEqualTo(1);
    assertThat(seat(ranks, "far", false, NEW).share().seat()).isEqualTo(1);
  }

  @Test
  void seat_withoutAPlacement_leavesItToTheNode() {
    Seated seated = seat(Seating.of(Optional.empty(), false, true), "a", true, NEW);
    assertThat(seated.share().placed()).isFalse();
    assertThat(seated.seating().shares()).isEmpty();
  }
}
