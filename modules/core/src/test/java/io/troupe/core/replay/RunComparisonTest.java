package io.troupe.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class RunComparisonTest {
  private static final List<RecordedItem> RUN =
      List.of(
          new RecordedItem.Began(
              new ProcessFacts(new TreeMap<>(), ""), WeightVersion.BASE, "base", false),
          scored(1, 1, "a", 0),
          scored(2, 2, "b", 0),
          trained(1, "one", 1),
          trained(2, "two", 2));

  private static LeaseId lease(long group, long fence) {
    return new LeaseId(new GroupId(group), fence);
  }

  private static RecordedItem.Scored scored(long group, long fence, String digest, double reward) {
    TokenVersions versions = TokenVersions.uniform(WeightVersion.BASE, 2);
    return new RecordedItem.Scored(
        new RecordedGroup(
            new GroupSummary(lease(group, fence), List.of(reward), List.of(versions)),
            3,
            0,
            0,
            new WorkerId("w"),
            List.of(digest),
            false));
  }

  private static RecordedItem trained(long step, String digest, long group) {
    return new RecordedItem.Trained(step, List.of(lease(group, group)), digest);
  }

  private static List<RecordedItem> with(int index, RecordedItem item) {
    List<RecordedItem> other = new ArrayList<>(RUN);
    other.set(index, item);
    return other;
  }

  private static String reason(List<RecordedItem> other) {
    RunComparison.Parting parting = RunComparison.of(RUN, other).orElseThrow();
    return parting.step() + ": " + parting.reason();
  }

  @Test
  void of_oneDifference_namesItsStepAndReason() {
    assertThat(RunComparison.of(RUN, RUN)).isEmpty();
    assertThat(RunComparison.common(RUN, RUN)).isEqualTo(2);
    assertThat(RunComparison.of(RUN, RUN.subList(0, 4))).isEmpty();
    assertThat(reason(with(2, scored(2, 2, "c", 0))))
        .isEqualTo(
            "2: completion 0 of group 2 has other tokens or log-probabilities, of the same"
                + " versions");
    assertThat(reason(with(2, scored(2, 2, "b", 1))))
        .isEqualTo("2: group 2 has rewards [0.0] in one run and [1.0] in the other");
    assertThat(reason(with(3, trained(1, "other", 1))))
        .isEqualTo("1: the batch is the same bit for bit, and the weights behind it differ");
    assertThat(reason(with(4, trained(2, "two", 1))))
        .isEqualTo("2: the batch has groups [2] in one run and [1] in the other");
    assertThat(RunComparison.common(RUN, with(4, trained(2, "other", 2)))).isEqualTo(1);
  }
}
