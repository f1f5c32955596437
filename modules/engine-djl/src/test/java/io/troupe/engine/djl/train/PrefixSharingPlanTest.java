package io.troupe.engine.djl.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.model.Fixtures;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class PrefixSharingPlanTest {
  private static final int[] LONG_PROMPT = {2, 3, 4, 5, 6};

  private static TrainingSequence sequence(int[] prompt, float... weights) {
    int[] completion = new int[weights.length];
    for (int t = 0; t < weights.length; t++) {
      completion[t] = 7 + t;
    }
    return new TrainingSequence(prompt, completion, new float[weights.length], weights, 1);
  }

  @Test
  void of_sharedPrompts_readsEachPromptOnce() {
    List<PrefixSharingPlan> plans =
        PrefixSharingPlan.of(
            List.of(
                sequence(LONG_PROMPT, 1, 1, 1),
                sequence(new int[] {9, 9, 9, 9, 9}, 1, 1),
                sequence(LONG_PROMPT.clone(), 1),
                sequence(new int[] {9, 9, 9, 9, 9}, 1, 1, 0)),
            100);
    assertThat(plans).hasSize(1);
    PrefixSharingPlan plan = plans.getFirst();
    assertThat(plan.shared()).isTrue();
    assertThat(plan.heads()).hasSize(2);
    assertThat(plan.rows()).hasSize(4);
    assertThat(plan.headLength()).isEqualTo(5);
    assertThat(plan.tailLength()).isEqualTo(2);
    assertThat(plan.tokens()).isEqualTo(8);
  }

  @Test
  void of_promptsOfTheirOwn_areHeadsAsAWholeWithoutTheLastToken() {
    List<PrefixSharingPlan> plans =
        PrefixSharingPlan.of(
            List.of(sequence(LONG_PROMPT, 1, 1, 1), sequence(new int[] {8}, 1, 1)), 100);
    assertThat(plans).hasSize(1);
    assertThat(plans.getFirst().shared()).isFalse();
    assertThat(plans.getFirst().heads())
        .containsExactly(new int[] {8, 7}, new int[] {2, 3, 4, 5, 6, 7, 8});
    assertThat(plans.getFirst().tailLength()).isZero();
  }

  @Test
  void of_sequenceLongerThanTheBudget_passesAlone() {
    List<PrefixSharingPlan> plans =
        PrefixSharingPlan.of(
            List.of(sequence(LONG_PROMPT, 1, 1, 1), sequence(new int[] {8}, 1, 1)), 3);
    assertThat(plans).hasSize(2).allMatch(plan -> plan.rows().size() == 1);
  }

  @Test
  void of_noWeight_plansNothing() {
    assertThat(PrefixSharingPlan.of(List.of(sequence(LONG_PROMPT, 0, 0)), 100)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyBatch_keepsTheBudgetAndEveryWeightedToken(long seed) {
    Random random = new Random(seed);
    List<TrainingSequence> batch =
        Fixtures.groups(random, 1 + random.nextInt(4), 1 + random.nextInt(5));
    int budget = 2 + random.nextInt(60);
    List<TrainingSequence> planned = new ArrayList<>();
    for (PrefixSharingPlan plan : PrefixSharingPlan.of(batch, budget)) {
      int tails = plan.shared() ? plan.rows().size() : 0;
      int padded = plan.heads().size() * plan.headLength() + tails * plan.tailLength();
      assertThat(padded <= budget || plan.rows().size() == 1).isTrue();
      for (PrefixSharingPlan.PlannedRow row : plan.rows()) {
        int[] head = plan.heads().get(row.head());
        for (int i = 0; i < head.length; i++) {
          assertThat(head[i]).isEqualTo(row.part().token(i));
        }
        planned.add(row.part().sequence());
      }
    }
    assertThat(planned)
        .containsExactlyInAnyOrderElementsOf(
            batch.stream().filter(PrefixSharingPlanTest::weighs).toList());
  }

  private static boolean weighs(TrainingSequence sequence) {
    for (float weight : sequence.lossWeights()) {
      if (weight > 0) {
        return true;
      }
    }
    return false;
  }
}
