package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class RankBackoffTest {
  private final RankBackoff bench = new RankBackoff(Duration.ofNanos(100));

  @Test
  void failed_twiceInARow_leavesTheRankOutForItsTime() {
    bench.failed(3, 0);
    assertThat(bench.excludes(3, 1)).isFalse();
    bench.failed(3, 10);
    assertThat(bench.excludes(3, 109)).isTrue();
    assertThat(bench.excludes(4, 109)).isFalse();
    assertThat(bench.excludes(3, 110)).isFalse();
    bench.failed(3, 120);
    assertThat(bench.excludes(3, 121)).isTrue();
  }

  @Test
  void worked_betweenFailures_beginsAnew() {
    bench.failed(3, 0);
    bench.succeeded(3);
    bench.failed(3, 10);
    assertThat(bench.excludes(3, 11)).isFalse();
  }
}
