package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.WeightDistributionState.Change;
import io.troupe.cluster.WeightDistributionState.FailedSource;
import io.troupe.cluster.WeightDistributionState.Updated;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WeightDistributionStateTest {
  private static final WeightDistributionState TWO =
      WeightDistributionState.EMPTY
          .joined("a", "10.0.0.1:7")
          .joined("b", "10.0.0.2:7")
          .published(3);

  private static boolean doubtful(WeightDistributionState state, String node) {
    WeightDistributionState.NodeState known = state.nodes().get(node);
    return known != null && known.doubtful();
  }

  @Test
  void failed_newestVersion_isDoubtedUntilItHoldsTheNewest() {
    Updated failed = TWO.failed("a", 3, "it was slow", List.of());
    assertThat(failed.changes())
        .extracting(Change::text)
        .containsExactly("node a did not receive v3 and waits for the next: it was slow");
    assertThat(doubtful(failed.state(), "a")).isTrue();

    Updated older = failed.state().published(5).received("a", 4, List.of());
    assertThat(doubtful(older.state(), "a")).isTrue();
    Updated newest = older.state().received("a", 5, List.of());
    assertThat(newest.changes())
        .extracting(Change::text)
        .containsExactly("node a holds the newest weights again, v5");
    assertThat(doubtful(newest.state(), "a")).isFalse();
  }

  @Test
  void failed_oneVersionAfterTheOther_isOneChangeUntilItHoldsTheNewest() {
    WeightDistributionState state = TWO;
    List<Change> changes = new ArrayList<>();
    for (int version = 4; version < 50; version++) {
      Updated updated = state.published(version).failed("a", version, "it was slow", List.of());
      changes.addAll(updated.changes());
      state = updated.state();
    }
    changes.addAll(state.published(50).received("a", 50, List.of()).changes());
    assertThat(changes)
        .containsExactly(
            new WeightDistributionState.Missed("a", 4, "it was slow"),
            new WeightDistributionState.CaughtUp("a", 50));
  }

  @Test
  void failed_replacedVersion_isWorthAWordAtTheThirdInARowOnly() {
    WeightDistributionState later = TWO.published(9);
    Updated updated = later.failed("a", 3, "gone", List.of());
    updated = updated.state().failed("a", 4, "gone", List.of());
    assertThat(updated.changes()).isEmpty();
    updated = updated.state().failed("a", 5, "gone", List.of());
    assertThat(updated.changes()).hasSize(1);
    assertThat(doubtful(updated.state(), "a")).isTrue();
  }

  @Test
  void brought_afterLeavingAnotherNode_doubtsThatOne() {
    Updated updated =
        TWO.received("b", 3, List.of(new FailedSource("10.0.0.1:7", "gave too little", true)));
    assertThat(updated.changes())
        .extracting(Change::text)
        .containsExactly(
            "node a delayed v3: gave too little; other nodes use other sources until it has caught"
                + " up");
    assertThat(doubtful(updated.state(), "a")).isTrue();
    assertThat(doubtful(updated.state(), "b")).isFalse();

    Updated lacking =
        TWO.received("b", 3, List.of(new FailedSource("10.0.0.1:7", "lacks them", false)));
    assertThat(lacking.changes()).isEmpty();
    assertThat(doubtful(lacking.state(), "a")).isTrue();
  }

  @Test
  void left_orUnknownNode_isNoPartOfTheNextTransfer() {
    assertThat(TWO.left("a").nodes()).containsOnlyKeys("b");
    assertThat(TWO.failed("c", 3, "who", List.of()).state()).isEqualTo(TWO);
  }
}
