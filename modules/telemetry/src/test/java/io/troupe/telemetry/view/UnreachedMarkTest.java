package io.troupe.telemetry.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class UnreachedMarkTest {
  private static final LeaseId LEASE = new LeaseId(new GroupId(1), 1);

  private static GroupSummary group(double mark, double... rewards) {
    TokenVersions tokens = TokenVersions.uniform(WeightVersion.BASE, 3);
    return new GroupSummary(LEASE, List.of(rewards[0], rewards[1]), List.of(tokens, tokens))
        .by(new PassMark(mark));
  }

  private static Optional<String> afterThreeSteps(GroupSummary first, GroupSummary second) {
    UnreachedMark mark = new UnreachedMark();
    assertThat(mark.event(new Event.GroupFiltered(first))).isEmpty();
    assertThat(mark.event(new Event.StepTrained(1))).isEmpty();
    assertThat(mark.event(new Event.GroupBuffered(second))).isEmpty();
    assertThat(mark.event(new Event.StepTrained(2))).isEmpty();
    Optional<String> said = mark.event(new Event.StepTrained(3));
    assertThat(mark.event(new Event.StepTrained(4))).isEmpty();
    return said;
  }

  @Test
  void event_gradedRewardsBelowTheMark_areSaidOnceAfterThreeSteps() {
    assertThat(afterThreeSteps(group(1, 0, 0), group(1, 0.25, 0.83)).orElseThrow())
        .contains("verifier.pass_reward (1.0); the highest reward was 0.83");
    assertThat(afterThreeSteps(group(2, -1, -1), group(2, 1, 1)).orElseThrow())
        .contains("verifier.pass_reward (2.0); the highest reward was 1.0");
  }

  @Test
  void event_rewardsThatReachTheMarkOrAreAllWrong_sayNothing() {
    assertThat(afterThreeSteps(group(0.5, 0, 0), group(0.5, 0.25, 0.83))).isEmpty();
    assertThat(afterThreeSteps(group(1, 0, 0), group(1, 0, 0))).isEmpty();
    assertThat(afterThreeSteps(group(1, -1, -1), group(1, -1, -1))).isEmpty();
  }
}
