package io.troupe.verifiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.FormatVerifier.Shape;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FormatVerifierTest {
  @ParameterizedTest
  @CsvSource({
    "THINK_ANSWER, <think>a</think> <answer>4</answer>, 1",
    "THINK_ANSWER, ' <think></think><answer></answer> ', 1",
    "THINK_ANSWER, <think>a</think>4, 0",
    "THINK_ANSWER, <think>a</think><answer>4</answer>4, 0",
    "THINK_ANSWER, <think>a</think><answer>4</answer><answer>5</answer>, 0",
    "THINK_ANSWER, <think>a<think></think><answer>4</answer>, 0",
    "THINK_ANSWER, <answer>4</answer>, 0",
    "THINK_ANSWER, '', 0",
    "THINK, <think>a</think> 4, 1",
    "THINK, <think>a</think>, 0",
    "THINK, a <think>b</think> 4, 0",
    "BOXED, so \\boxed{\\frac{1}{2}}., 1",
    "BOXED, \\boxed{1} \\boxed{2}, 0",
    "BOXED, \\boxed{1, 0",
    "BOXED, 1, 0",
  })
  void verify_completion_isRewardedForItsShape(Shape shape, String completion, double reward) {
    Verdict verdict =
        new FormatVerifier(shape)
            .verify(new Prompt(new PromptId("p"), "s", "t", "a", ""), completion);

    assertThat(((Verdict.Scored) verdict).reward()).isEqualTo(reward);
  }

  @ParameterizedTest
  @CsvSource({
    "THINK, T</think>A, 1",
    "THINK, <think>T</think>A, 1",
    "THINK, T</think>, 0",
    "THINK, T, 0",
    "THINK, T</think>A</think>, 0",
    "THINK_ANSWER, T</think><answer>4</answer>, 1",
    "BOXED, T</think>\\boxed{4}, 1",
  })
  void verify_promptThatBeganTheThought_isPartOfTheShape(
      Shape shape, String completion, double reward) {
    Verdict verdict =
        new FormatVerifier(shape)
            .verify(
                new Prompt(new PromptId("p"), "s", "t", "a", ""), new JudgedText(completion, true));

    assertThat(((Verdict.Scored) verdict).reward()).isEqualTo(reward);
  }
}
