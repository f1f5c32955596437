package io.troupe.core.reward;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.AnswerPart.Answer;
import io.troupe.core.reward.AnswerPart.UnfinishedThought;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AnswerPartTest {
  /** Nothing that no thought began is taken for one, so that no text is hidden from a verifier. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "false | plain | plain",
        "false | <think>a</think>R | R",
        "false | long, bad</think>R | long, bad</think>R",
        "true | a</think>R | R",
        "true | <think>a</think>R | R",
        "false | <think>a</think>b</think>R | R",
        "false | re.sub(r\"<think>.*?</think>\", \"\", s) | re.sub(r\"<think>.*?</think>\", \"\", s)",
        "false | print('<think>') | print('<think>')",
        "false | the tag `<think>` begins one | the tag `<think>` begins one",
        "false | <think>it is \"red\"</think>\"red\" | \"red\"",
        "false | <think>`18`</think>`18` | `18`",
        "false | <think>say '</think>' first</think>R | R",
        "false | </think>R | R",
        "false | </think>R</think>S | R</think>S",
        "false | <~channel~>final<~message~>R | R",
        "false | <~channel~>analysis<~message~>a<~channel~>final<~message~>R | R",
        "true | a<~channel~>final<~message~>R | R",
      })
  void of_finishedCompletion_isTheTextBehindItsThought(
      boolean open, String completion, String answer) {
    assertThat(AnswerPart.of(completion.replace('~', '|'), open))
        .isEqualTo(new Answer(answer, false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "false | <think>R",
        "false | R<think>R",
        "false | <think>a</think>R<think>R",
        "false | R</think>",
        "false | R</think> ",
        "false | </think>",
        "false | </think><think>R",
        "true | R",
        "true | say '</think>' R",
      })
  void of_unfinishedThought_isNoAnswer(boolean open, String completion) {
    assertThat(AnswerPart.of(completion, open)).isEqualTo(new UnfinishedThought());
  }

  @ParameterizedTest
  @CsvSource({"<answer>R</answer>, R", "<think>a</think> <answer>R</answer>, R"})
  void of_answerInTags_isWithinThem(String completion, String answer) {
    assertThat(AnswerPart.of(completion, false)).isEqualTo(new Answer(answer, true));
  }
}
