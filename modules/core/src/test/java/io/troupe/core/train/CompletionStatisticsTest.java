package io.troupe.core.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CompletionStatisticsTest {
  private static Completion completion(int length, FinishReason reason) {
    return new Completion(
        new int[length], new float[length], TokenVersions.of(new long[length]), reason);
  }

  private static ScoredGroup group(List<Completion> completions, Double... rewards) {
    return ScoredGroup.ofCompletions(
        new LeaseId(new GroupId(1), 1), new int[] {1}, completions, Arrays.asList(rewards));
  }

  /** Lengths 2, 4, 6, 8 with rewards 1, 1, 0, 0: the correlation is -4 / sqrt(1 * 20). */
  @Test
  void of_twoGroups_countsEveryCompletionOnce() {
    CompletionStatistics found =
        CompletionStatistics.of(
            List.of(
                group(
                    List.of(completion(2, FinishReason.STOP), completion(6, FinishReason.STOP)),
                    1.0,
                    0.0),
                group(
                    List.of(
                        completion(8, FinishReason.LENGTH),
                        completion(4, FinishReason.STOP_STRING)),
                    0.0,
                    1.0)),
            PassMark.FULL);

    assertThat(found.reward()).isEqualTo(.5);
    assertThat(found.stopShare()).isEqualTo(.5);
    assertThat(found.stopStringShare()).isEqualTo(.25);
    assertThat(found.truncatedShare()).isEqualTo(.25);
    assertThat(found.rewardLengthCorrelation()).isCloseTo(-.894427191, within(1e-9));
    assertThat(found.lengthRight()).isEqualTo(3);
    assertThat(found.lengthWrong()).isEqualTo(7);
  }

  @Test
  void of_equalRewards_haveNoCorrelation() {
    CompletionStatistics found =
        CompletionStatistics.of(
            List.of(
                group(
                    List.of(completion(2, FinishReason.STOP), completion(6, FinishReason.STOP)),
                    1.0,
                    1.0)),
            PassMark.FULL);

    assertThat(found.rewardLengthCorrelation()).isNaN();
    assertThat(found.lengthWrong()).isNaN();
  }
}
