package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class McNemarTestTest {
  /** From scipy.stats.binomtest(min(b, c), b + c).pvalue. */
  @ParameterizedTest
  @CsvSource({"0,0,1", "5,5,1", "1,9,0.021484375", "10,2,0.03857421875", "0,10,0.001953125"})
  void pValue_discordantPairs_isTheExactOne(int first, int second, double expected) {
    assertThat(new McNemarTest(first, second).pValue()).isEqualTo(expected, within(1e-12));
  }
}
