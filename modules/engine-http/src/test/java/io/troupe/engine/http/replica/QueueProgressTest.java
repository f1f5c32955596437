package io.troupe.engine.http.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.http.fleet.ReplicaQuarantine;
import io.troupe.engine.http.protocol.LoadReport;
import java.time.Duration;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class QueueProgressTest {
  private static final Duration MINUTE = Duration.ofSeconds(60);
  private static final long SECOND = 1_000_000_000L;

  private static LoadReport told(double waiting, double sampled) {
    return new LoadReport(
        OptionalDouble.of(8), OptionalDouble.of(waiting), OptionalDouble.of(sampled));
  }

  @Test
  void moves_tokensComeWhileRequestsWait_isAQueue() {
    QueueProgress first = QueueProgress.NONE.after(told(3, 100), 0);
    assertThat(first.moves(0, MINUTE)).as("nothing was seen to grow yet").isFalse();
    QueueProgress grown = first.after(told(3, 101), SECOND);
    assertThat(grown.moves(61 * SECOND, MINUTE)).isTrue();
    assertThat(grown.moves(61 * SECOND + 1, MINUTE)).isFalse();
    assertThat(grown.after(told(3, 101), 70 * SECOND).moves(70 * SECOND, MINUTE)).isFalse();
    assertThat(grown.after(told(0, 102), 2 * SECOND).moves(2 * SECOND, MINUTE)).isFalse();
  }

  @Test
  void moves_serverThatDoesNotTell_isNone() {
    QueueProgress grown = QueueProgress.NONE.after(told(3, 100), 0).after(told(3, 101), SECOND);
    assertThat(grown.after(LoadReport.parse(""), SECOND).moves(SECOND, MINUTE)).isFalse();
  }

  @Test
  void quarantine_failuresInARow_lastsLongerEachTimeUpToABound() {
    ReplicaQuarantine quarantine = ReplicaQuarantine.first(0, "a");
    long begun = 0;
    for (long millis : new long[] {500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000}) {
      if (millis > 500) {
        quarantine = quarantine.next(begun, "b");
      }
      assertThat(quarantine.remaining(begun)).isEqualTo(Duration.ofMillis(millis));
      begun = quarantine.untilNanos();
      assertThat(quarantine.remaining(begun)).isZero();
    }
  }
}
