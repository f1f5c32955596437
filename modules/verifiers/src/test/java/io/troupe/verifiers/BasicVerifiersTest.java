package io.troupe.verifiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BasicVerifiersTest {
  private static Verdict judged(
      String verifier, Map<String, String> options, String answer, String completion)
      throws IOException {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "Q", answer, "");
    try (Verifier made =
        Verifiers.with(List.of()).named(verifier).create(new VerifierOptions(options, 1))) {
      return made.verify(prompt, completion);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "B",
        "(b)",
        "B. a dog",
        "A? No: the answer is (B).",
        "Answer: A\nanswer is B",
        "**B**",
        "\\boxed{B}",
        "$B$",
        "$\\boxed{\\text{(B)}}$",
        "**Answer:** B",
        "The correct answer is **B** because it barks.",
        "The answer is A. No, \\boxed{b}.",
        "The answer is option B"
      })
  void choice_rightLetter_isRewarded(String completion) throws IOException {
    assertThat(((Verdict.Scored) judged("choice", Map.of(), "B", completion)).passed()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "A,another letter",
    "The answer is a beetle,no letter chosen",
    "The answer is a,another letter",
    "The answer is not B,no letter chosen",
    "\\boxed{B} or \\boxed{A},another letter",
    "Both,no letter chosen",
    "the answer is best,no letter chosen"
  })
  void choice_otherText_saysWhatWasRead(String completion, String reason) throws IOException {
    assertThat(judged("choice", Map.of(), "B", completion))
        .isInstanceOfSatisfying(
            Verdict.Scored.class,
            scored -> {
              assertThat(scored.passed()).isFalse();
              assertThat(scored.reason()).isEqualTo(reason);
            });
  }

  @Test
  void choice_answerThatIsNoLetter_cannotBeJudged() throws IOException {
    assertThat(judged("choice", Map.of(), "4", "B")).isInstanceOf(Verdict.Unverifiable.class);
  }

  @Test
  void text_anyAcceptedLine_isRewardedByCase() throws IOException {
    assertThat(
            ((Verdict.Scored) judged("text", Map.of(), "red\ndark  red", " dark red\n")).passed())
        .isTrue();
    assertThat(((Verdict.Scored) judged("text", Map.of(), "red", "Red")).passed()).isFalse();
    assertThat(
            ((Verdict.Scored) judged("text", Map.of("ignore_case", "true"), "red", "Red")).passed())
        .isTrue();
  }
}
