package io.troupe.verifiers.instructions;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.Verdict;
import io.troupe.testkit.Fuzz;
import io.troupe.verifiers.language.PunktSplitter;
import io.troupe.verifiers.language.WordTokenizer;
import io.troupe.verifiers.python.PythonLiteralReader;
import java.util.List;
import org.junit.jupiter.api.Test;

class InstructionFuzzTest {
  private static final List<Case> CASES = Case.all();
  private static final List<String> PIECES =
      List.of(
          "*",
          "**",
          "***",
          "* * *",
          "******",
          "\n",
          "\n\n",
          ".",
          "?!",
          "...",
          ". . .",
          "\"",
          "''",
          "``",
          "'",
          "[",
          "]",
          "(",
          "{",
          "<<",
          ">>",
          "<i>",
          "</i>",
          "P.S.",
          "Section 1",
          "Question 1",
          "-",
          "--",
          ",",
          "\t",
          "</think>",
          "<answer>",
          "<prd>",
          "<stop>",
          "```json",
          "\u00a0",
          "\u2028",
          "😀",
          "\ud83d",
          "日",
          "ſ",
          "İ",
          "Mr.",
          "e.g.",
          "1769-01-01");

  @Test
  void verify_anyCompletionOfEveryInstruction_isScoredTheSameTwice() {
    List<String> completions = CASES.stream().map(Case::completion).toList();
    new Fuzz("instructions", completions, PIECES)
        .run(
            3_000,
            (text, random) -> {
              Case row = CASES.get(random.nextInt(CASES.size()));
              Verdict.Scored first = Prompts.scored(row.family(), row.label(), text);
              assertThat(Prompts.scored(row.family(), row.label(), text)).isEqualTo(first);
            });
  }

  @Test
  void verify_anyLabel_isReadOrRefused() {
    List<InstructionFamily> families = List.of(InstructionFamily.values());
    List<String> labels = CASES.stream().map(Case::label).toList();
    new Fuzz(
            "instruction labels", labels, List.of("[", "]", "{", "}", "'", "\"", "\\", "None", ":"))
        .run(
            3_000,
            (label, random) ->
                Prompts.verify(families.get(random.nextInt(families.size())), label, "Some text."));
  }

  @Test
  void language_anyText_isCutWithoutLoss() {
    List<String> completions = CASES.stream().map(Case::completion).toList();
    new Fuzz("sentences", completions, PIECES)
        .run(
            3_000,
            (text, random) -> {
              for (String sentence : PunktSplitter.english().sentences(text)) {
                assertThat(text).contains(sentence);
              }
              assertThat(WordTokenizer.words(text)).noneMatch(String::isEmpty);
              PythonLiteralReader.literal(text);
            });
  }
}
