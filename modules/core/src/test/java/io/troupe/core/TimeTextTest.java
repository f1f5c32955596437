package io.troupe.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimeTextTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 ms",
    "1999, 1999 ms",
    "2000, 2 s",
    "119999, 119 s",
    "120000, 2 min",
    "600000, 10 min",
    "7200000, 120 min"
  })
  void of_millis_isInTheLargestUnitOfWhichThereAreTwo(long millis, String text) {
    assertThat(TimeText.of(millis)).isEqualTo(text);
  }
}
