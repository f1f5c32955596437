package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ShardRangeTest {
  @Test
  void range_tenOfFour_isOfTheCeiling() {
    assertThat(new ShardRange(1, 4).from(10)).isZero();
    assertThat(new ShardRange(1, 4).to(10)).isEqualTo(3);
    assertThat(new ShardRange(4, 4).from(10)).isEqualTo(9);
    assertThat(new ShardRange(4, 4).to(10)).isEqualTo(10);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void ranges_anySize_coverEachItemOnce(long seed) {
    int size = (int) (seed * 7 % 53);
    int count = (int) (1 + seed % 11);
    int next = 0;
    for (int i = 1; i <= count; i++) {
      ShardRange range = new ShardRange(i, count);
      assertThat(range.from(size)).isEqualTo(next);
      next = range.to(size);
    }
    assertThat(next).isEqualTo(size);
  }

  @Test
  void create_zeroOfFour_isRefused() {
    assertThatThrownBy(() -> new ShardRange(0, 4))
        .hasMessage("a shard is i/n with i from 1 to n, not 0/4");
  }
}
