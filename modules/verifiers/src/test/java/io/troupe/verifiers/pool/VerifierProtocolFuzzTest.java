package io.troupe.verifiers.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.Fuzz;
import io.troupe.verifiers.JudgedText;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever a process writes is an answer or none; whatever a completion holds arrives. */
class VerifierProtocolFuzzTest {
  private static final Fuzz FUZZ =
      new Fuzz(
          "pool protocol",
          List.of(
              VerifierProtocol.write(
                  new VerifierProtocol.Answer(
                      7, new Verdict.Scored(0.5, "x", "half", List.of(new Check("a", true))))),
              VerifierProtocol.write(
                  new VerifierProtocol.Answer(
                      8, new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "slow"))),
              VerifierProtocol.ready()),
          List.of(
              "\"seq\":",
              "\"reward\":",
              "\"unverifiable\":",
              "\"checks\":[",
              "[[[[[[[[",
              "1e999",
              "NaN",
              "null",
              "\\u",
              "\\ud83d",
              "9223372036854775808",
              "{",
              "}"));

  @Test
  void answer_anyLine_isAVerdictWithinBoundsOrNone() {
    FUZZ.run(
        20_000,
        (line, _) -> {
          VerifierProtocol.isReady(line);
          VerifierProtocol.answer(line)
              .ifPresent(
                  answer ->
                      assertThat(VerifierProtocol.answer(VerifierProtocol.write(answer)))
                          .contains(answer));
        });
  }

  @Test
  void question_anyCompletion_arrivesAsItWas() {
    FUZZ.run(
        5_000,
        (text, _) -> {
          VerifierProtocol.Question asked =
              new VerifierProtocol.Question(
                  1,
                  new Prompt(new PromptId("p"), "s", LiteralMark.removed(text), text, ""),
                  JudgedText.of(text));
          assertThat(VerifierProtocol.question(VerifierProtocol.write(asked))).isEqualTo(asked);
        });
  }

  @Test
  void answer_nestedWithoutEnd_isNone() {
    assertThat(VerifierProtocol.answer("{\"seq\":1,\"reward\":" + "[".repeat(1_000_000))).isEmpty();
    assertThat(VerifierProtocol.answer("{\"seq\":1" + "0".repeat(1_000_000) + ",\"reward\":1}"))
        .isEmpty();
  }
}
