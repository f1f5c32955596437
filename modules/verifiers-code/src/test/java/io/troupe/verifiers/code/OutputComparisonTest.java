package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OutputComparisonTest {
  @ParameterizedTest
  @CsvSource({
    "3|,       3,        EXACT LINES TOKENS NUMBERS",
    "3 |,      3,        LINES TOKENS NUMBERS",
    "1 2|3,    1 2|3||,  EXACT LINES TOKENS NUMBERS",
    "1|2|3,    1 2 3,    TOKENS NUMBERS",
    "0.33333333, 0.33333334, NUMBERS",
    "1e3,      1000,     NUMBERS",
    "0x10,     16,       ''",
    "1d,       1,        ''",
    "nan,      0,        ''",
    "1 2,      1,        ''",
    "yes,      Yes,      ''"
  })
  void agree_outputs_agreeUnderTheseRules(String actual, String wanted, String rules) {
    EnumSet<OutputComparison> agreeing = EnumSet.noneOf(OutputComparison.class);
    for (OutputComparison comparison : OutputComparison.values()) {
      if (comparison.agree(actual.replace('|', '\n'), wanted.replace('|', '\n'))) {
        agreeing.add(comparison);
      }
    }
    assertThat(agreeing)
        .isEqualTo(
            Arrays.stream(rules.split(" ", -1))
                .filter(rule -> !rule.isEmpty())
                .map(OutputComparison::valueOf)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(OutputComparison.class))));
  }
}
