package io.troupe.verifiers.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.DataRow;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VerifierProtocolTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "a\nb\r\u2028\u0000", "\ud83d\ude00", "half \ud83d", "{\"seq\": 2}"})
  void question_anyCompletion_arrivesAsItWas(String completion) {
    VerifierProtocol.Question question =
        new VerifierProtocol.Question(
            7,
            new Prompt(new PromptId("p"), "math", "2+2", "4 \udc00", ""),
            JudgedText.of(completion));

    String line = VerifierProtocol.write(question);

    assertThat(line).doesNotContain("\n").isPrintable();
    assertThat(VerifierProtocol.question(line)).isEqualTo(question);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"level\":2,\"tests\":[\"assert f(1) == 1\"],\"none\":null}",
        "{\"price\":2.50,\"big\":123456789012345678901234567890.125}",
        "{\"ü\":\"\ud83d\ude00 half \ud83d\",\"a\":\"b\\\\u0041\\n\"}"
      })
  void question_anyRow_arrivesAsItWas(String row) {
    for (List<String> leftOut : List.of(List.<String>of(), List.of("image", "ü"))) {
      Prompt prompt = new Prompt(new PromptId("p"), "own", "q", "4", "", new DataRow(row, leftOut));
      VerifierProtocol.Question question =
          new VerifierProtocol.Question(7, prompt, JudgedText.of("c"));

      String line = VerifierProtocol.write(question);

      assertThat(line).doesNotContain("\n").isPrintable();
      assertThat(VerifierProtocol.question(line)).isEqualTo(question);
    }
  }

  @Test
  void write_promptThatSpellsASpecialToken_hasItWithoutItsMark() {
    Prompt prompt = new Prompt(new PromptId("id"), "s", "what is <\uFDD0|im_end|>?", "5", "");

    assertThat(VerifierProtocol.write(new VerifierProtocol.Question(7, prompt, JudgedText.of("c"))))
        .contains("\"what is <|im_end|>?\"");
  }

  @Test
  void answer_verdict_arrivesAsItWas() {
    Verdict scored = new Verdict.Scored(0.5, "x", "half", List.of(new Check("a", false, true)));
    Verdict none = new Verdict.Unverifiable(Verdict.Cause.BAD_INPUT, "no answer");

    assertThat(
            VerifierProtocol.answer(VerifierProtocol.write(new VerifierProtocol.Answer(1, scored))))
        .contains(new VerifierProtocol.Answer(1, scored));
    assertThat(
            VerifierProtocol.answer(VerifierProtocol.write(new VerifierProtocol.Answer(2, none))))
        .contains(new VerifierProtocol.Answer(2, none));
  }

  @Test
  void answer_least_isARewardAndItsNumber() {
    assertThat(VerifierProtocol.answer("{\"seq\": 3, \"reward\": 1}"))
        .contains(new VerifierProtocol.Answer(3, new Verdict.Scored(1, "", "")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "[]",
        "{\"reward\": 1}",
        "{\"seq\": 1, \"reward\": 1} {}",
      })
  void answer_anythingElse_isNone(String line) {
    assertThat(VerifierProtocol.answer(line)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(doubles = {2, -0.004, 1e9, -1e9, 0.5, 1})
  void answer_anyFiniteNumber_isAReward(double reward) {
    assertThat(VerifierProtocol.answer("{\"seq\": 1, \"reward\": %s}".formatted(reward)))
        .contains(new VerifierProtocol.Answer(1, new Verdict.Scored(reward, "", "")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{\"seq\": 1} | an answer must hold \"reward\" or \"unverifiable\"",
        "{\"seq\": 1, \"reward\": NaN} | \"reward\" must be a finite number, not NaN",
        "{\"seq\": 1, \"reward\": -Infinity} | \"reward\" must be a finite number, not -Infinity",
        "{\"seq\": 1, \"reward\": 1e999} | \"reward\" must be a finite number, not Infinity",
        "{\"seq\": 1, \"reward\": \"1\"} | \"reward\" must be a finite number, not \"1\"",
        "{\"seq\": 1, \"reward\": null} | \"reward\" must be a finite number, not null",
        "{\"seq\": 1, \"reward\": [1, 2]} | \"reward\" must be a finite number, not [1,2]",
        "{\"seq\": 1, \"unverifiable\": \"because\"} | \"unverifiable\" must be timeout, crash,"
            + " away or bad_input, not \"because\"",
      })
  void answer_thatBreaksARule_saysTheRule(String line, String rule) {
    assertThat(VerifierProtocol.answer(line))
        .contains(
            new VerifierProtocol.Answer(
                1,
                new Verdict.Unverifiable(
                    Verdict.Cause.CRASH, "the verifier's answer breaks a rule: " + rule)));
  }
}
