package io.troupe.core.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class BootstrapTest {
  /** Numbers of {@code scipy.stats.binom.ppf([0.025, 0.975], n, right / n)}. */
  @ParameterizedTest
  @CsvSource({"500,453,440,465", "1319,800,765,835", "10,1,0,3", "7,6,4,7", "2,1,0,2"})
  void means_rightAndWrong_areBinomial(int prompts, int right, int low, int high) {
    Estimate estimate = Bootstrap.means(rows(prompts, right), 1).getFirst();

    assertThat(estimate.value()).isEqualTo((double) right / prompts);
    assertThat(estimate.low()).isEqualTo((double) low / prompts);
    assertThat(estimate.high()).isEqualTo((double) high / prompts);
  }

  /** A third kind of row makes the interval one of draws. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void means_binomialOrDrawn_agree(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int prompts = random.nextInt(200, 2000);
    List<double[]> two = rows(prompts, random.nextInt(prompts / 10, prompts * 9 / 10));
    List<double[]> three = new ArrayList<>(two);
    three.set(0, new double[] {1 - 1e-9});

    Estimate computed = Bootstrap.means(two, 1).getFirst();
    Estimate drawn = Bootstrap.means(three, 1).getFirst();

    double width = computed.high() - computed.low();
    assertThat(drawn.low()).isCloseTo(computed.low(), within(width / 10));
    assertThat(drawn.high()).isCloseTo(computed.high(), within(width / 10));
  }

  @Test
  void means_promptsWithoutAValue_areInNoMean() {
    List<double[]> rows =
        List.of(new double[] {1, Double.NaN}, new double[] {Double.NaN, Double.NaN});

    List<Estimate> estimates = Bootstrap.means(rows, 2);

    assertThat(estimates).containsExactly(new Estimate(1, 1, 1, 1), Estimate.NONE);
  }

  private static List<double[]> rows(int prompts, int right) {
    return IntStream.range(0, prompts).mapToObj(i -> new double[] {i < right ? 1 : 0}).toList();
  }
}
