package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SignFlipTestTest {
  /** Counted over itertools.product([1, -1], repeat=n). */
  @ParameterizedTest
  @CsvSource({
    "0 0, 1",
    "1 -1, 1",
    "1 1 1 1 1, 0.0625",
    "0.5 -0.25 0.75 0.1, 0.375",
    "0.3 0 0.3 0.4 -0.1 0.9 1.2 -0.2, 0.09375"
  })
  void pValue_fewDifferences_isTheExactOne(String differences, double expected) {
    double[] given = Stream.of(differences.split(" ")).mapToDouble(Double::parseDouble).toArray();
    assertThat(SignFlipTest.pValue(given)).isEqualTo(expected, within(1e-12));
  }

  /** 100,000 draws of Python's random gave 0.1145 for it. */
  @Test
  void pValue_manyDifferences_isNearTheirs() {
    double[] given = IntStream.range(0, 40).mapToDouble(i -> (i * 37 % 11 - 4) / 10.0).toArray();
    assertThat(SignFlipTest.pValue(given)).isEqualTo(0.1145, within(0.01));
  }

  @ParameterizedTest
  @CsvSource({"0, 5", "3, 9", "12, 28", "50, 51"})
  void pValue_answersRightOrWrong_isMcNemars(int first, int second) {
    double[] given = new double[first + second];
    Arrays.fill(given, 0, first, -1);
    Arrays.fill(given, first, given.length, 1);
    assertThat(SignFlipTest.pValue(given))
        .isEqualTo(new McNemarTest(first, second).pValue(), within(0.015));
  }
}
