package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class CompactNumbersTest {
  @ParameterizedTest
  @CsvSource({
    "0,0",
    "212,212",
    "999.4,999",
    "999.5,1.0k",
    "12300,12.3k",
    "99940,99.9k",
    "99960,100k",
    "999499,999k",
    "999500,1.0M",
    "1.2e6,1.2M",
    "-12300,-12.3k",
    "4.5e15,4.5P",
    "1e18,1e+18",
    "1.2e21,1e+21",
    "NaN,–",
    "Infinity,inf"
  })
  void count_anyMagnitude_isShort(double value, String text) {
    assertThat(CompactNumbers.count(value)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0.0000", "0.0004,0.0004", "0.00004,4e-05", "0.12345,0.1235", "12.34567,12.346",
    "123.4567,123.46", "1234.5,1.2k", "-0.5,-0.5000", "9.99996,10.000", "-Infinity,-inf"
  })
  void decimal_anyMagnitude_keepsItsWidth(double value, String text) {
    assertThat(CompactNumbers.decimal(value, 4)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0.0s",
    "41.2,41.2s",
    "99.96,1m40s",
    "200,3m20s",
    "5999,99m59s",
    "6000,1h40m",
    "8040,2h14m",
    "360000,4d04h",
    "8640000,100d",
    "1e9,11.6kd"
  })
  void duration_anyLength_isShort(double seconds, String text) {
    assertThat(CompactNumbers.duration(seconds)).isEqualTo(text);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void all_randomValues_stayWithinTheirWidth(long seed) {
    Random random = new Random(seed);
    double value = random.nextDouble() * Math.pow(10, random.nextInt(-30, 30));
    assertThat(CompactNumbers.count(value)).hasSizeLessThanOrEqualTo(5);
    assertThat(CompactNumbers.decimal(value, 4)).hasSizeLessThanOrEqualTo(6);
    assertThat(CompactNumbers.duration(value)).hasSizeLessThanOrEqualTo(6);
    assertThat(CompactNumbers.percent(value, 1)).hasSizeLessThanOrEqualTo(6);
  }
}
