package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TaskScoresTest {
  private static final TreeSet<Integer> ONE_AND_TWO = new TreeSet<>(List.of(1, 2));

  @Test
  void of_unverifiableSamples_areInNoMean() {
    PromptTally half = PromptTally.NONE.judged(1, true, false).judged(0, false, true);
    PromptTally oneJudged = PromptTally.NONE.judged(1, true, false).unjudged(true);
    PromptTally none = PromptTally.NONE.unjudged(false).unjudged(false);

    TaskScores scores = TaskScores.of(List.of(half, oneJudged, none), ONE_AND_TWO);

    assertThat(scores.prompts()).isEqualTo(3);
    assertThat(scores.samples()).isEqualTo(6);
    assertThat(scores.unverifiable()).isEqualTo(3);
    assertThat(scores.truncatedShare()).isEqualTo(2.0 / 6);
    assertThat(scores.average().value()).isEqualTo(0.75);
    assertThat(scores.average().prompts()).isEqualTo(2);
    assertThat(pass(scores, 1).value()).isEqualTo(0.75);
    assertThat(pass(scores, 2).value()).isEqualTo(1);
    assertThat(pass(scores, 2).prompts()).isEqualTo(1);
  }

  private static Estimate pass(TaskScores scores, int k) {
    return scores.pass().getOrDefault(k, Estimate.NONE);
  }

  @Test
  void of_nothingJudged_estimatesNothing() {
    TaskScores scores =
        TaskScores.of(List.of(PromptTally.NONE.unjudged(false)), new TreeSet<>(List.of(1)));

    assertThat(scores.average().isPresent()).isFalse();
    assertThat(scores.pass()).containsExactly(Map.entry(1, Estimate.NONE));
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void of_passAtOne_isTheMeanOfPassedShares(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<PromptTally> tallies = new ArrayList<>();
    double sum = 0;
    for (int i = 0; i < 50; i++) {
      int passed = random.nextInt(9);
      tallies.add(new PromptTally(8, 8, passed, passed, 0));
      sum += passed / 8.0;
    }

    TaskScores scores = TaskScores.of(tallies, ONE_AND_TWO);

    Estimate first = pass(scores, 1);
    assertThat(first.value()).isEqualTo(sum / 50, within(1e-12));
    assertThat(scores.average()).isEqualTo(first);
    assertThat(first.low()).isLessThan(first.value());
    assertThat(first.high()).isGreaterThan(first.value());
    assertThat(pass(scores, 2).value()).isGreaterThan(first.value());
  }

  /** The standard error of a share p of n prompts is √(p(1−p)/n). */
  @Test
  void of_manyPrompts_hasTheNormalInterval() {
    List<PromptTally> tallies =
        Stream.concat(
                Stream.generate(() -> new PromptTally(1, 1, 1, 1, 0)).limit(600),
                Stream.generate(() -> new PromptTally(1, 1, 0, 0, 0)).limit(400))
            .toList();

    Estimate average = TaskScores.of(tallies, new TreeSet<>(List.of(1))).average();

    double error = 1.96 * Math.sqrt(0.6 * 0.4 / 1000);
    assertThat(average.low()).isEqualTo(0.6 - error, within(0.003));
    assertThat(average.high()).isEqualTo(0.6 + error, within(0.003));
  }
}
