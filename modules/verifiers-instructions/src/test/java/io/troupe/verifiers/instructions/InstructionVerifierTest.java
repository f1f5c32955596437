package io.troupe.verifiers.instructions;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.Verdict;
import io.troupe.core.reward.Verdict.Cause;
import io.troupe.core.reward.Verdict.Unverifiable;
import io.troupe.verifiers.python.PythonValue;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class InstructionVerifierTest {
  private static final String NO_COMMA_AND_ZEBRA =
      "[{'instruction_id': ['punctuation:no_comma', 'keywords:existence'],"
          + " 'kwargs': [None, {'keywords': ['comma', \"zebra\"], 'N': None}]}]";

  @ParameterizedTest
  @CsvSource({"ifeval-prompts.jsonl.gz, IFEVAL, 541", "ifbench-prompts.jsonl.gz, IFBENCH, 300"})
  void verify_everyPromptOfTheBenchmark_givesAVerdict(
      String file, InstructionFamily family, int prompts) {
    List<PythonValue> lines = GoldenFile.lines(InstructionVerifierTest.class, file);

    assertThat(lines).hasSize(prompts);
    for (PythonValue line : lines) {
      String completion = GoldenFile.text(line, "prompt");
      List<String> ids = GoldenFile.texts(line, "instruction_id_list");
      assertThat(Prompts.scored(family, Json.of(line), completion).checks())
          .extracting(check -> check.name())
          .isEqualTo(ids);
    }
  }

  @Test
  void verify_ifMultiHalfFollowed_earnsHalf() {
    Verdict.Scored verdict =
        Prompts.scored(InstructionFamily.IF_MULTI, NO_COMMA_AND_ZEBRA, "no commas here");

    assertThat(verdict.reward()).isEqualTo(0.5);
    assertThat(verdict.reason()).isEqualTo("1 of 2 instructions followed, not keywords:existence");
  }

  @Test
  void verify_ifMultiUnknownInstruction_countsAsNotFollowed() {
    String label =
        "[{'instruction_id': ['no:such', 'punctuation:no_comma'], 'kwargs': [None, {}]}]";

    assertThat(Prompts.scored(InstructionFamily.IF_MULTI, label, "ok").reward()).isEqualTo(0.5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " \n", "<|assistant|><answer> </answer>"})
  void verify_ifMultiNothingAnswered_earnsNothing(String completion) {
    assertThat(Prompts.scored(InstructionFamily.IF_MULTI, NO_COMMA_AND_ZEBRA, completion).reward())
        .isZero();
  }

  @Test
  void verify_ifMultiNoInstructions_earnsNothing() {
    String label = "[{'instruction_id': [], 'kwargs': []}]";

    assertThat(Prompts.scored(InstructionFamily.IF_MULTI, label, "ok").reward()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[\"{\\\"instruction_id\\\": [\\\"punctuation:no_comma\\\"], \\\"kwargs\\\": [null]}\"]",
        "['{\"instruction_id\": [\"punctuation:no_comma\"], \"kwargs\": [null]}']",
        "{\"instruction_id_list\": [\"punctuation:no_comma\"], \"kwargs\": [{}], \"prompt\": \"\"}",
        "[{'instruction_id': ['punctuation:no_comma'], 'kwargs': None}]"
      })
  void verify_ifMultiLabelInAnyOfItsForms_isRead(String label) {
    assertThat(Prompts.scored(InstructionFamily.IF_MULTI, label, "ok").reward()).isEqualTo(1);
    assertThat(Prompts.scored(InstructionFamily.IF_MULTI, label, "o,k").reward()).isZero();
  }

  @ParameterizedTest
  @EnumSource(InstructionFamily.class)
  void verify_labelThatCannotBeRead_isBadInput(InstructionFamily family) {
    for (String label : List.of("", "not a label", "[", "[]", "3", "{}", "{\"kwargs\": []}")) {
      assertThat(Prompts.verify(family, label, "ok"))
          .as(label)
          .isInstanceOfSatisfying(
              Unverifiable.class, v -> assertThat(v.cause()).isEqualTo(Cause.BAD_INPUT));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "no:such | {} | no:such: ifeval has no instruction of that name",
        "keywords:existence | {} | keywords:existence: no keywords",
        "keywords:existence | {\"keywords\": []} | keywords:existence: keywords is not a list of"
            + " texts",
        "keywords:existence | {\"keywords\": [\"a**\"]}"
            + " | keywords:existence: multiple repeat in the pattern a**",
        "punctuation:no_comma | {\"n\": 1} | punctuation:no_comma: an argument it does not have: n"
      })
  void verify_ifEvalBrokenInstruction_isBadInputAndSaysWhy(
      String id, String kwargs, String problem) {
    String label = "{\"instruction_id_list\": [\"%s\"], \"kwargs\": [%s]}".formatted(id, kwargs);

    assertThat(Prompts.verify(InstructionFamily.IFEVAL, label, "ok"))
        .isEqualTo(
            new Unverifiable(
                Cause.BAD_INPUT, "the instructions of prompt p cannot be checked: " + problem));
  }

  @Test
  void verify_catastrophicKeyword_isLinear() {
    String label =
        "{\"instruction_id_list\": [\"keywords:existence\"],"
            + " \"kwargs\": [{\"keywords\": [\"(a+)+b\", \"(a|aa)+$\"]}]}";

    assertThat(Prompts.scored(InstructionFamily.IFEVAL, label, "a".repeat(100_000)).reward())
        .isZero();
  }

  @Test
  void verify_searchesThatLookFarBeyondTheirEnd_stopByCount() {
    String label =
        "{\"instruction_id_list\": [\"keywords:frequency\"], \"kwargs\":"
            + " [{\"keyword\": \"a.*b|a\", \"frequency\": 1, \"relation\": \"at least\"}]}";

    assertThat(Prompts.verify(InstructionFamily.IFEVAL, label, "a".repeat(200_000)))
        .isInstanceOfSatisfying(
            Unverifiable.class, v -> assertThat(v.cause()).isEqualTo(Cause.TIMEOUT));
  }
}
