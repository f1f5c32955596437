package io.troupe.cluster.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.placement.Seating.Seated;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SeatingTest {
  /** Node 0: T0 T1 - W0, node 1: - - W1 W2. */
  private static final Placement PLACEMENT =
      ((Placement.Outcome.Placed) Placement.of(new Demand(2, 4, 2, 3, 1, 0, 1))).placement();

  private static final Seating FREE = Seating.of(Optional.of(PLACEMENT), false, false);

  @Test
  void seat_allNodes_getWhatThePlanDraws() {
    Seated far = FREE.seat("far", false, -1);
    Seated near = far.seating().seat("near", true, -1);
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
    Share share = Seating.of(Optional.of(PLACEMENT), true, false).seat("near", true, -1).share();
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
  void seat_ranksOnNodesAndAHeadOnAGpu_keepTheNodeBesideItOffTheRanks() {
    Seating free = Seating.of(Optional.of(PLACEMENT), true, true);
    Seated near = free.seat("near", true, -1);
    assertThat(near.share().seat()).isEqualTo(1);
    assertThat(near.share().ranks()).isEmpty();
    assertThat(near.seating().seat("far", false, -1).share().ranks()).hasSize(2);
  }

  @Test
  void seat_aThirdNode_isSpareUntilOneIsGone() {
    Seating two = FREE.seat("a", true, -1).seating().seat("b", false, -1).seating();
    assertThat(two.seat("c", false, -1).share().workers()).isEmpty();
    assertThat(two.seat("c", false, -1).share().placed()).isTrue();
    assertThat(two.left("a").seat("c", false, -1).share().seat()).isZero();
    assertThat(two.seat("b", false, -1).share().seat()).isEqualTo(1);
  }

  @Test
  void seat_underANewHead_isTheOneWhoseWorkersAreAtWork() {
    assertThat(FREE.seat("a", true, 1).share().seat()).isEqualTo(1);
  }

  @Test
  void seat_withoutAPlacement_leavesItToTheNode() {
    Seated seated = Seating.of(Optional.empty(), false, false).seat("a", true, -1);
    assertThat(seated.share().placed()).isFalse();
    assertThat(seated.seating().shares()).isEmpty();
  }
}
