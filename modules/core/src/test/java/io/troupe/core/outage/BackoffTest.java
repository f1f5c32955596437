package io.troupe.core.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class BackoffTest {
  private final Backoff backoff = new Backoff(100, 1_000);

  @Test
  void pauseMillis_failuresInARow_doublesUpToTheLongest() {
    assertThat(IntStream.range(0, 7).mapToLong(backoff::pauseMillis))
        .containsExactly(0L, 100L, 200L, 400L, 800L, 1_000L, 1_000L);
    assertThat(backoff.pauseMillis(Integer.MAX_VALUE)).isEqualTo(1_000);
  }

  @Test
  void pauseMillis_longestThereIs_neverOverflows() {
    long longest = Long.MAX_VALUE >> 30;
    Backoff large = new Backoff(longest, longest);
    assertThat(IntStream.rangeClosed(1, 100).mapToLong(large::pauseMillis)).containsOnly(longest);
  }

  @Test
  void pauseMillis_jitter_shortensByUpToHalf() {
    assertThat(backoff.pauseMillis(2, 0)).isEqualTo(100);
    assertThat(backoff.pauseMillis(2, 0.5)).isEqualTo(150);
    assertThat(backoff.pauseMillis(0, 0.5)).isZero();
  }

  @Test
  void constructor_pausesThatShrinkOrNeverEnd_areRefused() {
    assertThatThrownBy(() -> new Backoff(-1, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Backoff(2, 1))
        .hasMessage("the first pause (2 ms) is at most the longest (1 ms)");
    assertThatThrownBy(() -> new Backoff(1, Long.MAX_VALUE))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
