package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.Fuzz;
import io.troupe.verifiers.FormatVerifier;
import io.troupe.verifiers.Gsm8kMode;
import io.troupe.verifiers.NumericVerifier;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerifierFuzzTest {
  private static final Fuzz FUZZ =
      new Fuzz("numbers", List.of("The answer is 18.", "-5", "1,234.50"), List.of("$", ".", "9"));

  @Test
  void run_numberVerifiers_alwaysJudge() {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", "18", "");
    FUZZ.run(
        5_000,
        (text, _) -> {
          for (Gsm8kMode mode : Gsm8kMode.values()) {
            assertThat(new Gsm8kVerifier(mode).verify(prompt, text))
                .isInstanceOf(Verdict.Scored.class);
          }
          assertThat(NumericVerifier.plain().verify(prompt, text))
              .isInstanceOf(Verdict.Scored.class);
        });
  }

  @Test
  void run_formatVerifier_alwaysJudges() {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", "18", "");
    new Fuzz(
            "format",
            List.of("<think>a</think><answer>b</answer>", "so \\boxed{\\frac{1}{2}} it is"),
            List.of("<think>", "</think>", "<answer>", "</answer>", "\\boxed{", "{", "}", "\\"))
        .run(
            20_000,
            (text, _) -> {
              for (FormatVerifier.Shape shape : FormatVerifier.Shape.values()) {
                assertThat(new FormatVerifier(shape).verify(prompt, text))
                    .isInstanceOf(Verdict.Scored.class);
              }
            });
  }

  @Test
  void run_checkThrows_namesSeedAndInput() {
    assertThatThrownBy(
            () ->
                FUZZ.run(
                    10_000,
                    (text, _) -> {
                      if (text.contains("$$")) {
                        throw new IllegalStateException("found");
                      }
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessageMatching("fuzz numbers: seed \\d+, input \".*\\$\\$.*\"")
        .hasRootCauseMessage("found");
  }
}
