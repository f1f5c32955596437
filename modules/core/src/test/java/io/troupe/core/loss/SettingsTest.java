package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.loss.Correction.None;
import io.troupe.core.loss.Correction.TruncatedImportance;
import io.troupe.core.loss.Objective.DrGrpo;
import io.troupe.core.loss.Objective.Grpo;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SettingsTest {
  private static LossSettings settings(double low, double high, double beta, double temperature) {
    return new LossSettings(new Grpo(), low, high, new None(), beta, KlEstimator.K3, temperature);
  }

  private static void assertRefused(ThrowingCallable call, String rule, double value) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(rule + ", not " + value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-.1, 1.1, Double.NaN})
  void lossSettings_badClipLow_isRefused(double value) {
    assertRefused(() -> settings(value, 0, 0, 1), "clip_low lies in [0, 1]", value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-.1, Double.POSITIVE_INFINITY, Double.NaN})
  void lossSettings_badClipHigh_isRefused(double value) {
    assertRefused(
        () -> settings(0, value, 0, 1), "clip_high is a finite number, 0 or greater", value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-.1, Double.POSITIVE_INFINITY, Double.NaN})
  void lossSettings_badKlCoefficient_isRefused(double value) {
    assertRefused(
        () -> settings(0, 0, value, 1),
        "the KL coefficient is a finite number, 0 or greater",
        value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.POSITIVE_INFINITY, Double.NaN})
  void lossSettings_badTemperature_isRefused(double value) {
    assertRefused(
        () -> settings(0, 0, 0, value),
        "the temperature of a loss is a finite number greater than 0",
        value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.POSITIVE_INFINITY, Double.NaN})
  void drGrpo_badConstant_isRefused(double value) {
    assertRefused(
        () -> new DrGrpo(value),
        "the constant of Dr.GRPO is a finite number of tokens greater than 0",
        value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.POSITIVE_INFINITY, Double.NaN})
  void truncatedImportance_badCap_isRefused(double value) {
    assertRefused(
        () -> new TruncatedImportance(value),
        "the cap of truncated importance weights is a finite number greater than 0",
        value);
  }

  @Test
  void clips_eitherRangeOpen_isTrue() {
    assertThat(settings(0, 0, 0, 1).clip().active()).isFalse();
    assertThat(settings(1, 0, 0, 1).clip().active()).isTrue();
    assertThat(settings(0, .28, 0, 1).clip().active()).isTrue();
  }
}
