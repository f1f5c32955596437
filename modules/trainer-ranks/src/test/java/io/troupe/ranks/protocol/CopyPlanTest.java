package io.troupe.ranks.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Who gives which piece, against what is left in a ring of ranks. */
final class CopyPlanTest {
  private static final long MARK = 7;

  /** What the rank at a place of a former group keeps. */
  private static List<CopyPlan.Held> kept(int place, int ranks, long mark) {
    return List.of(
        new CopyPlan.Held(mark, place, ranks, 8),
        new CopyPlan.Held(mark, Math.floorMod(place - 1, ranks), ranks, 8));
  }

  static IntStream seeds() {
    return IntStream.range(0, 200);
  }

  /** Some of the former ranks come back in any order, beside new ones. */
  @ParameterizedTest
  @MethodSource("seeds")
  void of_anyRanksLost_givesEachPieceThatIsLeftOrNamesTheLostOnes(int seed) {
    Random random = new Random(seed);
    int before = 2 + random.nextInt(5);
    List<Integer> left =
        new ArrayList<>(
            IntStream.range(0, before).filter(_ -> random.nextInt(3) > 0).boxed().toList());
    List<List<CopyPlan.Held>> held = new ArrayList<>();
    for (int place = 0; place < Math.max(1, left.size() + random.nextInt(2)); place++) {
      List<CopyPlan.Held> copies = new ArrayList<>(kept(random.nextInt(3), 3, MARK + 1));
      if (place < left.size()) {
        copies.addAll(kept(left.get(place), before, MARK));
      }
      held.add(copies);
    }
    Set<Integer> there =
        left.stream()
            .flatMap(rank -> List.of(rank, Math.floorMod(rank - 1, before)).stream())
            .collect(Collectors.toSet());
    switch (CopyPlan.of(MARK, 9, 3, held)) {
      case CopyPlan.Found(CopyPlan plan) -> {
        assertThat(there).as("seed %d", seed).hasSize(before);
        assertThat(plan.givers()).hasSize(before);
        assertThat(plan.elements()).isEqualTo(8);
        for (int piece = 0; piece < before; piece++) {
          assertThat(held.get(plan.givers().get(piece)))
              .contains(new CopyPlan.Held(MARK, piece, before, 8));
        }
      }
      case CopyPlan.Lacking(String reason) -> {
        assertThat(there).as("seed %d", seed).hasSizeLessThan(before);
        for (int piece = 0; piece < before; piece++) {
          assertThat(reason.contains("piece " + piece))
              .isEqualTo(!left.isEmpty() && !there.contains(piece));
        }
      }
    }
  }

  @Test
  void of_oneRankReplaced_takesOnlyItsPieceFromAnotherOne() {
    CopyPlan.Outcome outcome =
        CopyPlan.of(MARK, 9, 3, List.of(kept(0, 3, MARK), List.of(), kept(2, 3, MARK)));
    assertThat(outcome)
        .isEqualTo(new CopyPlan.Found(new CopyPlan(MARK, 9, 3, 8, List.of(0, 2, 2))));
  }
}
