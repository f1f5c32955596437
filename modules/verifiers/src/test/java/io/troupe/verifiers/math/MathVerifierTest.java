package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MathVerifierTest {
  @Test
  void verify_scored_tellsWhatWasReadAndWhy() {
    assertThat(verify(MathVerifier.training(), "\\frac{1}{2}", "So \\boxed{0.5}"))
        .isEqualTo(new Verdict.Scored(1, "0.5", "equal as rationals: 1/2"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{17} or \\boxed{18}"))
        .isEqualTo(new Verdict.Scored(0, "18", "several boxes hold different answers"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{17, 18}"))
        .isEqualTo(
            new Verdict.Scored(0, "17, 18", "the answer holds several values, the gold is one"));
    assertThat(verify(MathVerifier.training(), "18", "18"))
        .isEqualTo(new Verdict.Scored(0, "", "no answer found"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{18"))
        .isEqualTo(new Verdict.Scored(0, "", "the last box is empty or not closed"));
    assertThat(verify(MathVerifier.training(), "18", "\\boxed{2^{10^9}}"))
        .isEqualTo(new Verdict.Scored(0, "2^{10^9}", "too large to evaluate"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "$$", "the solution \\boxed{}", "so \\boxed{5", "####"})
  void verify_goldWithoutAnswer_isUnverifiable(String gold) {
    assertThat(verify(MathVerifier.training(), gold, "\\boxed{5}"))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.BAD_INPUT, "the answer of prompt p holds no answer: " + gold));
  }

  @Test
  void verify_goldTooLarge_isUnverifiableUnlessWrittenAlike() {
    assertThat(verify(MathVerifier.training(), "2^{10^9}", "\\boxed{5}"))
        .isEqualTo(
            new Verdict.Unverifiable(
                Verdict.Cause.BAD_INPUT,
                "the answer of prompt p is too large to evaluate: 2^{10^9}"));
    assertThat(verify(MathVerifier.training(), "2^{10^9}", "\\boxed{2 ^ {10^9}}"))
        .isEqualTo(new Verdict.Scored(1, "2 ^ {10^9}", "the same text"));
  }

  @Test
  void verify_workedSolution_isReadForItsAnswer() {
    assertThat(passes(MathVerifier.training(), "So $5+5=\\boxed{10}$ it is.", "\\boxed{10}"))
        .isTrue();
    assertThat(passes(MathVerifier.training(), "9*2=18\n#### 1,018", "#### 1018")).isTrue();
  }

  /** Training, Hendrycks, Minerva, open-instruct, Qwen, DAPO. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'\\boxed{3} then \\boxed{4}'                                  | 4   | 010110",
        "'\\boxed{3} then \\boxed{4}'                                  | 3   | 000000",
        "we get $5$ and $7$                                          | 7   | 000110",
        "42                                                          | 42  | 000110",
        "the answer is 42                                            | 42  | 100010",
        "Final Answer: The final answer is $-2$. I hope it is correct. | -2 | 101110",
        "Final Answer: The final answer is $-2$                      | -2  | 101110",
        "'Answer: 7'                                                 | 7   | 000011",
        "'\\fbox{7}'                                                 | 7   | 110110",
        "'\\boxed{10\\text{ cm}}'                                      | 10  | 110110",
        "'So there are 1,234 of them.'                               | 1234 | 000010",
      })
  void verify_modes_readAsTheHarnessesDo(String completion, String gold, String expected) {
    StringBuilder passed = new StringBuilder();
    for (MathVerifier.Reading reading : MathVerifier.Reading.values()) {
      passed.append(passes(reading.verifier(), gold, completion) ? '1' : '0');
    }
    assertThat(passed).hasToString(expected);
  }

  @Test
  void construct_badSettings_areRefused() {
    assertThatThrownBy(() -> new MathVerifier(List.of(), MathVerifier.Mode.ONE_ANSWER))
        .hasMessageStartingWith("the math verifier needs at least one anchor; name one of [box,");
    assertThatThrownBy(
            () -> new MathVerifier(List.of(Anchor.BOX, Anchor.BOX), MathVerifier.Mode.ONE_ANSWER))
        .hasMessage(
            "each anchor of the math verifier counts once, but one of [box, box] stands twice;"
                + " remove it");
    assertThatThrownBy(() -> Anchor.named("boxes"))
        .hasMessageStartingWith("boxes is no anchor of the math verifier; name one of [box,");
  }

  private static boolean passes(MathVerifier verifier, String gold, String completion) {
    return verify(verifier, gold, completion) instanceof Verdict.Scored scored && scored.passed();
  }

  private static Verdict verify(MathVerifier verifier, String gold, String completion) {
    return verifier.verify(new Prompt(new PromptId("p"), "s", "t", gold, ""), completion);
  }
}
