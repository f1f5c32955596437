package io.troupe.core.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.reward.EpisodeText.TurnText;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class TurnRewardsTest {
  private static Verdict reward(double... turns) {
    return TurnRewards.of(
        new EpisodeText(
            "=== reward 1.0",
            DoubleStream.of(turns)
                .mapToObj(each -> new TurnText("main", "", "reward 1", List.of(), each))
                .toList(),
            "max_turns"));
  }

  @Test
  void of_turns_areSummed() {
    assertThat(reward(0.25, 0, 0.5))
        .isEqualTo(new Verdict.Scored(0.75, "", "0.7500 in 2 of 3 turns"));
    assertThat(reward(0)).isEqualTo(new Verdict.Scored(0, "", "0.000 in 0 of 1 turns"));
  }

  @Test
  void of_sumsOutsideOfZeroToOne_areKept() {
    assertThat(reward(1, 0.5)).isEqualTo(new Verdict.Scored(1.5, "", "1.500 in 2 of 2 turns"));
    assertThat(reward(-0.5, 0.25))
        .isEqualTo(new Verdict.Scored(-0.25, "", "-0.2500 in 2 of 2 turns"));
  }

  @Test
  void of_sumThatIsNotFinite_isNotJudged() {
    assertThat(reward(Double.MAX_VALUE, Double.MAX_VALUE))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.CRASH,
                "the environment's rewards of 2 turns add up to Infinity, which is no finite"
                    + " number"));
  }

  @Test
  void of_answerWithoutTurns_isNotJudged() {
    assertThat(((Verdict.Unverifiable) TurnRewards.of(EpisodeText.of("1"))).cause())
        .isEqualTo(Verdict.Cause.BAD_INPUT);
  }

  @Test
  void turnText_rewardThatIsNoNumber_isRefused() {
    assertThatThrownBy(() -> reward(Double.NaN)).hasMessageContaining("NaN");
  }
}
