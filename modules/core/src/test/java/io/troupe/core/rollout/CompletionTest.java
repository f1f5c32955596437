package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionTest {
  private static Completion completion(int[] tokens, float[] logProbs, int versions) {
    return new Completion(
        tokens, logProbs, TokenVersions.uniform(WeightVersion.BASE, versions), FinishReason.LENGTH);
  }

  @Test
  void completion_wellFormed_isHandedOver() {
    int[] tokens = {5, 6};
    float[] logProbs = {-0.5f, 0};
    Completion completion = completion(tokens, logProbs, 2);
    assertThat(completion.tokens()).isSameAs(tokens);
    assertThat(completion.logProbs()).isSameAs(logProbs);
    assertThat(completion.length()).isEqualTo(2);
    assertThat(completion.finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(completion.versions().tokens()).isEqualTo(2);
  }

  @Test
  void completion_lengthsThatDiffer_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> completion(new int[] {1, 2}, new float[1], 2))
        .withMessage(
            "a completion of 2 tokens needs as many log-probabilities (1) and versions (2)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> completion(new int[] {1, 2}, new float[2], 3));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> completion(new int[0], new float[0], 1))
        .withMessage("a completion has at least one token");
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY, 2e-4f, 1})
  void completion_logProbabilityThatIsNone_isRefusedNotZeroed(float none) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> completion(new int[] {1, 2}, new float[] {-1, none}, 2))
        .withMessage("token 1 of a completion has log-probability %s, which is none", none);
  }

  @Test
  void completion_logProbabilityAboveZeroByRounding_isTaken() {
    assertThat(completion(new int[] {1}, new float[] {1e-4f}, 1).logProbs()[0]).isEqualTo(1e-4f);
  }

  @Test
  void scoredGroup_rewardMissing_isRefused() {
    LeaseId lease = new LeaseId(new GroupId(3), 9);
    Completion one = completion(new int[] {1}, new float[] {-1}, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> ScoredGroup.ofCompletions(lease, new int[] {1}, List.of(one, one), List.of(1.0)))
        .withMessage("g3#9 has 1 rewards for 2 completions");
  }

  @Test
  void summary_ofAGroup_hasItsNumbers() {
    LeaseId lease = new LeaseId(new GroupId(3), 9);
    Completion old =
        new Completion(
            new int[] {1, 2, 3},
            new float[3],
            TokenVersions.of(new long[] {1, 4, 4}),
            FinishReason.STOP);
    Completion young =
        new Completion(
            new int[] {1}, new float[1], TokenVersions.of(new long[] {3}), FinishReason.STOP);
    GroupSummary summary =
        ScoredGroup.ofCompletions(lease, new int[] {1}, List.of(young, old), List.of(0.0, 1.0))
            .summary();
    assertThat(summary.oldest()).isEqualTo(new WeightVersion(1));
    assertThat(summary.newest()).isEqualTo(new WeightVersion(4));
    assertThat(summary.tokens()).isEqualTo(4);
    assertThat(summary.rewards()).containsExactly(0.0, 1.0);
    assertThat(summary.lease()).isEqualTo(lease);
  }

  @Test
  void summary_ofTurnsAndToolsThatOverlap_countsEachMomentOnce() {
    LeaseId lease = new LeaseId(new GroupId(3), 9);
    Completion one =
        new Completion(
            new int[] {2}, new float[1], TokenVersions.of(new long[] {1}), FinishReason.STOP);
    OpenEpisode open = OpenEpisode.under(lease);
    int[][] asked = {{1}, {1, 2, 3}, {7}};
    long[][] times = {{100, 140}, {200, 220}, {210, 230}};
    for (int i = 0; i < asked.length; i++) {
      open =
          ((OpenEpisode.Recorded)
                  open.record(
                      lease,
                      new OpenEpisode.Answered(Turn.MAIN, asked[i], one, times[i][0], times[i][1])))
              .episode();
    }
    open =
        open.withTools(
            0,
            List.of(
                new ToolRun("a", "calc", ToolRun.Outcome.RAN, 0, 140, 30, 1, 1),
                new ToolRun("b", "calc", ToolRun.Outcome.RAN, 0, 150, 40, 1, 1)));
    assertThat(open.stopped(StopReason.COMPLETED).summary())
        .isEqualTo(new EpisodeSummary(3, 2, StopReason.COMPLETED, 2, 50, 70, 130));
  }

  @Test
  void summary_withoutCompletionOrReward_isRefused() {
    LeaseId lease = new LeaseId(new GroupId(3), 9);
    TokenVersions versions = TokenVersions.uniform(WeightVersion.BASE, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GroupSummary(lease, List.of(), List.of()))
        .withMessage("g3#9 has no completion");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new GroupSummary(lease, List.of(1.0), List.of(versions, versions)))
        .withMessage("g3#9 has 1 rewards for 2 completions");
  }

  @Test
  void ids_outOfRange_areRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new GroupId(0));
    assertThatIllegalArgumentException().isThrownBy(() -> new LeaseId(new GroupId(1), 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new WorkerId(" "));
    assertThat(new LeaseId(new GroupId(1), 1)).hasToString("g1#1");
    assertThat(new WorkerId("a").compareTo(new WorkerId("b"))).isNegative();
    assertThat(new WorkerId("a")).hasToString("a");
  }
}
