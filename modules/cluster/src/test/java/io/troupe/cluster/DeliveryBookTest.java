package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.DeliveryBook.Change;
import io.troupe.cluster.DeliveryBook.Left;
import io.troupe.cluster.DeliveryBook.Noted;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DeliveryBookTest {
  private static final DeliveryBook TWO =
      DeliveryBook.EMPTY.joined("a", "10.0.0.1:7").joined("b", "10.0.0.2:7").published(3);

  private static boolean doubtful(DeliveryBook book, String node) {
    DeliveryBook.Node known = book.nodes().get(node);
    return known != null && known.doubtful();
  }

  @Test
  void failed_newestVersion_isDoubtedUntilItHoldsTheNewest() {
    Noted failed = TWO.failed("a", 3, "it was slow", List.of());
    assertThat(failed.changes())
        .extracting(Change::text)
        .containsExactly("node a did not get v3 and waits for the next: it was slow");
    assertThat(doubtful(failed.book(), "a")).isTrue();

    Noted older = failed.book().published(5).brought("a", 4, List.of());
    assertThat(doubtful(older.book(), "a")).isTrue();
    Noted newest = older.book().brought("a", 5, List.of());
    assertThat(newest.changes())
        .extracting(Change::text)
        .containsExactly("node a holds the newest weights again, v5");
    assertThat(doubtful(newest.book(), "a")).isFalse();
  }

  @Test
  void failed_oneVersionAfterTheOther_isOneChangeUntilItHoldsTheNewest() {
    DeliveryBook book = TWO;
    List<Change> changes = new ArrayList<>();
    for (int version = 4; version < 50; version++) {
      Noted noted = book.published(version).failed("a", version, "it was slow", List.of());
      changes.addAll(noted.changes());
      book = noted.book();
    }
    changes.addAll(book.published(50).brought("a", 50, List.of()).changes());
    assertThat(changes)
        .containsExactly(
            new DeliveryBook.Missed("a", 4, "it was slow"), new DeliveryBook.CaughtUp("a", 50));
  }

  @Test
  void failed_replacedVersion_isWorthAWordAtTheThirdInARowOnly() {
    DeliveryBook later = TWO.published(9);
    Noted noted = later.failed("a", 3, "gone", List.of());
    noted = noted.book().failed("a", 4, "gone", List.of());
    assertThat(noted.changes()).isEmpty();
    noted = noted.book().failed("a", 5, "gone", List.of());
    assertThat(noted.changes()).hasSize(1);
    assertThat(doubtful(noted.book(), "a")).isTrue();
  }

  @Test
  void brought_afterLeavingAnotherNode_doubtsThatOne() {
    Noted noted = TWO.brought("b", 3, List.of(new Left("10.0.0.1:7", "gave too little", true)));
    assertThat(noted.changes())
        .extracting(Change::text)
        .containsExactly(
            "node a held up v3: gave too little; others take weights elsewhere until it has caught"
                + " up");
    assertThat(doubtful(noted.book(), "a")).isTrue();
    assertThat(doubtful(noted.book(), "b")).isFalse();

    Noted lacking = TWO.brought("b", 3, List.of(new Left("10.0.0.1:7", "lacks them", false)));
    assertThat(lacking.changes()).isEmpty();
    assertThat(doubtful(lacking.book(), "a")).isTrue();
  }

  @Test
  void left_orUnknownNode_isNoPartOfTheNextTransfer() {
    assertThat(TWO.left("a").nodes()).containsOnlyKeys("b");
    assertThat(TWO.failed("c", 3, "who", List.of()).book()).isEqualTo(TWO);
  }
}
