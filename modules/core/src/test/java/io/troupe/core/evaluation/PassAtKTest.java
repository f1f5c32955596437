package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PassAtKTest {
  @ParameterizedTest
  @CsvSource({
    "10,3,5,0.916667",
    "4,3,2,1",
    "128,1,64,0.5",
    "200,20,10,0.660226",
    "7,0,3,0",
    "5,5,1,1"
  })
  void of_publishedVectors_areMet(int n, int c, int k, double expected) {
    assertThat(PassAtK.of(n, c, k)).isEqualTo(expected, within(5e-7));
  }

  @Test
  void of_tenThousandCases_equalsTheCountOfAllSubsets() {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 10_000; i++) {
      int n = 1 + random.nextInt(12);
      int c = random.nextInt(n + 1);
      int k = 1 + random.nextInt(n);
      assertThat(PassAtK.of(n, c, k))
          .as("n=%d c=%d k=%d", n, c, k)
          .isEqualTo(bruteForce(n, c, k), within(1e-12));
    }
  }

  /** The share of subsets of k of n samples with a sample of the first c. */
  private static double bruteForce(int n, int c, int k) {
    int passing = 0;
    int all = 0;
    for (int subset = 0; subset < 1 << n; subset++) {
      if (Integer.bitCount(subset) == k) {
        all++;
        passing += (subset & (1 << c) - 1) != 0 ? 1 : 0;
      }
    }
    return (double) passing / all;
  }

  @Test
  void of_moreThanTheSamples_isRefused() {
    assertThatThrownBy(() -> PassAtK.of(3, 1, 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("k of pass@k is from 1 to the number of samples (3), not 4");
  }
}
