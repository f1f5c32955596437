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

  private static boolean doubtful(WeightDistributionState book, String node) {
    WeightDistributionState.NodeState known = book.nodes().get(node);
    return known != null && known.doubtful();
  }

  @Test
  void failed_newestVersion_isDoubtedUntilItHoldsTheNewest() {
    Updated failed = TWO.failed("a", 3, "it was slow", List.of());
    assertThat(failed.changes())
        .extracting(Change::text)
        .containsExactly("node a did not get v3 and waits for the next: it was slow");
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
    WeightDistributionState book = TWO;
    List<Change> changes = new ArrayList<>();
    for (int version = 4; version < 50; version++) {
      Updated noted = book.published(version).failed("a", version, "it was slow", List.of());
      changes.addAll(noted.changes());
      book = noted.state();
    }
    changes.addAll(book.published(50).received("a", 50, List.of()).changes());
    assertThat(changes)
        .containsExactly(
            new WeightDistributionState.Missed("a", 4, "it was slow"),
            new WeightDistributionState.CaughtUp("a", 50));
  }

  @Test
  void failed_replacedVersion_isWorthAWordAtTheThirdInARowOnly() {
    WeightDistributionState later = TWO.published(9);
    Updated noted = later.failed("a", 3, "gone", List.of());
    noted = noted.state().failed("a", 4, "gone", List.of());
    assertThat(noted.changes()).isEmpty();
    noted = noted.state().failed("a", 5, "gone", List.of());
    assertThat(noted.changes()).hasSize(1);
    assertThat(doubtful(noted.state(), "a")).isTrue();
  }

  @Test
  void brought_afterLeavingAnotherNode_doubtsThatOne() {
    Updated noted =
        TWO.received("b", 3, List.of(new FailedSource("10.0.0.1:7", "gave too little", true)));
    assertThat(noted.changes())
        .extracting(Change::text)
        .containsExactly(
            "node a held up v3: gave too little; others take weights elsewhere until it has caught"
                + " up");
    assertThat(doubtful(noted.state(), "a")).isTrue();
    assertThat(doubtful(noted.state(), "b")).isFalse();

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
