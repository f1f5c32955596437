package io.troupe.core.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.Distillation;
import io.troupe.core.prompt.PassRate;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.train.CompletionStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever counts right completions counts by the mark. */
final class PassMarkTest {
  private static final LeaseId LEASE = new LeaseId(new GroupId(1), 1);

  @ParameterizedTest(name = "mark {0}, rewards {1}")
  @CsvSource({
    "1, 0 1 1 0, 2",
    "1, 0.9999999 0.99, 1",
    "1, -1 0.5 3, 1",
    "0.5, 0.3 0.5 0.8 0.49, 2",
    "0.5, 0.7 0.6, 2",
    "2, 1 1 1.5 2, 1",
    "2, 0.25 1, 0",
    "0, -1 -0.0000001 0, 1",
    "-0.5, -1 -0.5 0 -0.6, 2",
    "-3, -1 -2, 2",
    "0.0000001, 0 0.0000001, 1"
  })
  void passes_groups_areCountedAlikeByAll(double least, String given, int passing) {
    PassMark mark = new PassMark(least);
    List<Double> rewards = Stream.of(given.split(" ")).map(Double::valueOf).toList();
    List<Completion> completions = new ArrayList<>();
    for (int i = 0; i < rewards.size(); i++) {
      // A completion that passes has 2 tokens, and any other has 3.
      int tokens = mark.passes(rewards.get(i)) ? 2 : 3;
      completions.add(
          new Completion(
              new int[tokens],
              new float[tokens],
              TokenVersions.of(new long[tokens]),
              FinishReason.STOP));
    }
    ScoredGroup group = ScoredGroup.ofCompletions(LEASE, new int[] {1}, completions, rewards);
    GroupSummary summary = group.summary().by(mark);
    CompletionStatistics lengths = CompletionStatistics.of(List.of(group), mark);
    Distillation discards = new Distillation.ForwardKl(1, 2, true, mark);

    assertThat(rewards.stream().filter(mark::passes)).hasSize(passing);
    assertThat(rewards.stream().map(PassMarkTest::verdict).map(each -> each.by(mark)))
        .filteredOn(each -> ((Verdict.Scored) each).passed())
        .hasSize(passing);
    assertThat(summary.passed()).isEqualTo(passing);
    assertThat(summary.perfect()).isEqualTo(passing == rewards.size());
    assertThat(rewards.stream().filter(each -> !discards.learnsFrom(each))).hasSize(passing);
    if (passing > 0 && passing < rewards.size()) {
      assertThat(lengths.lengthRight()).isEqualTo(2);
      assertThat(lengths.lengthWrong()).isEqualTo(3);
      assertThat(PassRate.UNKNOWN.measured(rewards, summary.passed()))
          .isEqualTo(new PassRate(passing, rewards.size() - passing));
    }
  }

  private static Verdict verdict(double reward) {
    return new Verdict.Scored(reward, "", "");
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, 0.83, true",
    "1, 0.25, 0.25, true",
    "1, -1, -0.5, true",
    "2, 0, 1, true",
    "1, 0, 0, false",
    "1, -1, -1, false",
    "1, 0, 1, false",
    "0.5, 0, 0.83, false"
  })
  void unreached_rewardsBelowTheMark_areSaidWhereTheyAreGraded(
      double mark, double lowest, double highest, boolean said) {
    assertThat(new PassMark(mark).unreached(lowest, highest).isPresent()).isEqualTo(said);
  }

  @Test
  void unreached_sentence_namesKeyMarkAndHighest() {
    assertThat(PassMark.FULL.unreached(0, 0.83).orElseThrow())
        .startsWith(
            "no completion reached verifier.pass_reward (1.0); the highest reward was 0.83:");
  }

  @Test
  void new_markThatIsNotFinite_isRefused() {
    assertThatThrownBy(() -> new PassMark(Double.NaN)).hasMessageContaining("finite number");
  }
}
