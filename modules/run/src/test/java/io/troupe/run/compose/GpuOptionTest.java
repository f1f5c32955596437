package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GpuOptionTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"0-7 | 8", "3 | 1", "0,2,5 | 3", "0-1,6-7 | 4", "virtual:4 | 4"})
  void count_listOrVirtual_isTheNumberOfGpus(String option, int count) {
    assertThat(GpuOption.count(option)).isEqualTo(count);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "none", "7-0", "0,0", "0-64", "a", "", "0-", "virtual:0"})
  void count_anythingElse_isRefused(String option) {
    assertThatThrownBy(() -> GpuOption.count(option))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--gpus");
  }

  @Test
  void isList_otherForms_areNone() {
    assertThat(GpuOption.isList("0-7")).isTrue();
    assertThat(GpuOption.isList("auto")).isFalse();
    assertThat(GpuOption.isList("virtual:4")).isFalse();
  }
}
