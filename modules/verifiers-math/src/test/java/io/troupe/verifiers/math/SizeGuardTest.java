package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.CpuTimeLimit;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bombs are refused by what they would cost, before they are evaluated. */
class SizeGuardTest {
  static List<String> bombs() {
    int million = 1_000_000;
    return List.of(
        "\\boxed{" + "(".repeat(900) + "1" + ")".repeat(900) + "}",
        "\\boxed{" + "-".repeat(1_900) + "1}",
        "\\boxed{" + "\\sqrt{".repeat(300) + "2" + "}".repeat(300) + "}",
        "\\boxed{" + "2^{".repeat(400) + "2" + "}".repeat(400) + "}",
        "\\boxed{" + "e^".repeat(190) + "2}",
        "\\boxed{" + "9!".repeat(1) + "!".repeat(500) + "}",
        "\\boxed{(x+y+z+w+1)^{200}(x-y)^{200}}",
        "\\boxed{" + "(x+1)".repeat(300) + "}",
        "\\boxed{" + "\\sin x+".repeat(200) + "1}",
        "\\boxed{" + "\\frac{1}{1+".repeat(150) + "x" + "}".repeat(150) + "}",
        "\\boxed{" + "1,".repeat(900) + "1}",
        "\\boxed{" + "9".repeat(1_900) + "}",
        "\\boxed{0." + "3".repeat(1_900) + "}",
        "\\boxed{\\sqrt[999]{" + "7".repeat(600) + "}}",
        "\\boxed{" + "9".repeat(million) + "}",
        "\\boxed{".repeat(million / 7),
        "\\boxed{1}".repeat(million / 9),
        "\\boxed{" + "{".repeat(million),
        "\\boxed ".repeat(million / 7),
        "####".repeat(million / 4),
        "#### " + "1".repeat(million),
        "The answer is ".repeat(million / 14),
        "The answer is $" + "1".repeat(million),
        "The answer is " + " ".repeat(million) + "1",
        "Answer".repeat(million / 6),
        "$".repeat(million),
        "9".repeat(million),
        "<think>".repeat(million / 7));
  }

  @ParameterizedTest
  @MethodSource("bombs")
  void verify_bomb_isWrongWithinATenthOfASecond(String bomb) {
    for (String gold : List.of("18", "\\cot x + \\sqrt{2}", "x^2+y=1")) {
      Prompt prompt = new Prompt(new PromptId("p"), "s", "t", gold, "");
      Verdict verdict =
          CpuTimeLimit.assertWithin(
              Duration.ofMillis(100), () -> MathVerifier.training().verify(prompt, bomb));
      assertThat(verdict)
          .isInstanceOfSatisfying(
              Verdict.Scored.class, scored -> assertThat(scored.passed()).isFalse());
    }
  }
}
