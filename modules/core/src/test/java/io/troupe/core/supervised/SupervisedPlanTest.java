package io.troupe.core.supervised;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rows of each step. */
final class SupervisedPlanTest {
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void rowsOf_anyEpoch_takesEveryRowOnce(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int rows = 1 + random.nextInt(200);
    SupervisedPlan plan =
        SupervisedPlan.of(rows, 1 + random.nextInt(40), seed, 0, 1 + random.nextInt(4));

    List<Integer> taken = new ArrayList<>();
    for (long step = 1; step <= plan.steps(); step++) {
      assertThat(plan.rowsOf(step)).hasSizeBetween(1, plan.batch());
      taken.addAll(plan.rowsOf(step));
      if (step % plan.stepsPerEpoch() == 0) {
        assertThat(taken)
            .containsExactlyInAnyOrderElementsOf(IntStream.range(0, rows).boxed().toList());
        assertThat(plan.epochsAfter(step)).isEqualTo((double) (plan.epochOf(step) + 1));
        taken.clear();
      }
    }
    assertThat(taken).isEmpty();
  }

  @Test
  void of_stepsAndEpochs_endsAtTheLower() {
    assertThat(SupervisedPlan.of(10, 4, 1, 0, 2).steps()).isEqualTo(6);
    assertThat(SupervisedPlan.of(10, 4, 1, 5, 2).steps()).isEqualTo(5);
    assertThat(SupervisedPlan.of(10, 4, 1, 100, 0).steps()).isEqualTo(100);
    assertThatThrownBy(() -> SupervisedPlan.of(10, 4, 1, 0, 0))
        .hasMessage("a run ends after some steps or epochs; set one of the two");
  }

  @Test
  void rowsOf_twoEpochs_differInOrder() {
    SupervisedPlan plan = SupervisedPlan.of(50, 50, 7, 0, 2);

    assertThat(plan.rowsOf(1)).isNotEqualTo(plan.rowsOf(2)).hasSameElementsAs(plan.rowsOf(2));
  }
}
