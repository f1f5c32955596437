package io.troupe.environments.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Answers in their thought and the rest, in the marks of published templates. */
final class ThoughtSplitTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "<think>T</think>R",
        "[THINK]T[/THINK]R",
        "<|channel>thoughtT<channel|>R",
        "<|START_THINKING|>T<|END_THINKING|>R",
        "<|channel|>analysis<|message|>T<|channel|>final<|message|>R",
        "<|channel|>analysis<|message|>Tassistant<|channel|>final<|message|>R",
      })
  void of_thoughtInAnyMarks_isApartFromTheRest(String answer) {
    ThoughtSplit split = ThoughtSplit.of(answer, false);
    assertThat(split.thought()).isEqualTo("T");
    assertThat(split.rest()).isEqualTo("R");
    assertThat(split.open()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"</think>R", "<|channel|>final<|message|>R", "R"})
  void of_answerWithoutAThought_isAllThatIsBehindItsMark(String answer) {
    ThoughtSplit split = ThoughtSplit.of(answer, false);
    assertThat(split.thought()).isEmpty();
    assertThat(split.rest()).isEqualTo("R");
    assertThat(answer.substring(split.from())).isEqualTo("R");
  }
}
