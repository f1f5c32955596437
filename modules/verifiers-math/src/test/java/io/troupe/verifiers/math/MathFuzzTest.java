package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.testkit.Fuzz;
import io.troupe.verifiers.math.compare.AnswerEquivalence;
import io.troupe.verifiers.math.expr.StepBudget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** No text makes the verifier throw, hang or spend more than its budget. */
class MathFuzzTest {
  private static final List<String> DICTIONARY =
      List.of(
          "\\frac",
          "\\sqrt",
          "{",
          "}",
          "^",
          "_",
          "(",
          ")",
          "[",
          "]",
          "\\{",
          "\\}",
          "|",
          "!",
          "%",
          "\\%",
          "\\$",
          "$",
          ",",
          ";",
          ":",
          "=",
          "<",
          "\\le",
          "\\cup",
          "\\pm",
          "\\mp",
          "+",
          "-",
          "*",
          "/",
          "\\cdot",
          "9",
          "10^9",
          "9^9",
          "0",
          "1.5",
          "e",
          "i",
          "x",
          "y",
          "\\pi",
          "\\infty",
          "\\sin",
          "\\ln",
          "\\log_",
          "\\exp",
          "\\arcsin",
          "\\tan",
          "\\binom",
          "\\lfloor",
          "\\rfloor",
          "\\boxed{",
          "\\boxed",
          "\\fbox{",
          "####",
          "The answer is ",
          "Answer:",
          "\\begin{pmatrix}",
          "\\end{pmatrix}",
          "&",
          "\\\\",
          "\\text{",
          "\\text{ cm}",
          "\\circ",
          "^\\circ",
          "\\ldots",
          "...",
          "0.\\overline{3}",
          "\\gcd(",
          "\\in",
          " or ",
          " and ",
          "\n",
          "\u2212",
          "\u200b",
          "\uff11",
          "\ue000",
          "\\!",
          "{,}",
          "1,000",
          "52_8",
          "\\left",
          "\\right",
          "</think>",
          "<think>",
          "\\left(",
          "\\approx",
          "\\choose",
          "\\over");

  @Test
  void verify_randomAndMutatedText_alwaysJudges() throws IOException {
    List<String> corpus = corpus();
    new Fuzz("math", corpus, DICTIONARY)
        .run(
            1_500,
            (text, random) -> {
              String other = corpus.get(random.nextInt(corpus.size()));
              for (MathVerifier.Reading reading : MathVerifier.Reading.values()) {
                assertJudged(reading.verifier(), other, text);
              }
              assertJudged(MathVerifier.training(), other, "\\boxed{" + text + "}");
              assertJudged(MathVerifier.training(), text, "\\boxed{" + other + "}");
            });
  }

  @Test
  void compare_randomAndMutatedText_staysWithinItsBudget() throws IOException {
    List<String> corpus = corpus();
    new Fuzz("math budget", corpus, DICTIONARY)
        .run(
            1_500,
            (text, random) -> {
              StepBudget budget = new StepBudget();
              AnswerEquivalence.compare(corpus.get(random.nextInt(corpus.size())), text, budget);
              // One operation may overdraw what is left; the largest costs this much.
              assertThat(budget.left()).isGreaterThan(-200_000);
            });
  }

  private static void assertJudged(MathVerifier verifier, String gold, String completion) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", gold, "");
    switch (verifier.verify(prompt, completion)) {
      case Verdict.Scored scored -> assertThat(scored.reward()).isIn(0.0, 1.0);
      case Verdict.Unverifiable unverifiable ->
          assertThat(unverifiable.cause()).isEqualTo(Verdict.Cause.BAD_INPUT);
    }
  }

  private static List<String> corpus() throws IOException {
    List<String> corpus = new ArrayList<>();
    Math500.all().forEach(problem -> corpus.add(problem.answer()));
    Math500.all().subList(0, 50).forEach(problem -> corpus.add(problem.solution()));
    GoldenTest.rows().forEach(row -> corpus.add(row.answer()));
    return corpus;
  }
}
