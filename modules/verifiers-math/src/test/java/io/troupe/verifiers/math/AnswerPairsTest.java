package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Answers in a box beside the expected one: right ones are paid, and their near misses are not. */
class AnswerPairsTest {
  private static final List<MathVerifier> VERIFIERS =
      List.of(MathVerifier.training(), MathVerifier.Reading.EVALUATION.verifier());

  /** A row of a table. */
  record Pair(boolean right, String kind, String gold, String answer) {
    static Pair of(String line) {
      String[] cells = line.split("\t", 4);
      return new Pair(cells[0].equals("right"), cells[1], cells[2], cells[3]);
    }
  }

  static List<Pair> pairs() throws IOException {
    return pairs("pairs.tsv");
  }

  private static List<Pair> pairs(String table) throws IOException {
    var resource = Objects.requireNonNull(AnswerPairsTest.class.getResourceAsStream(table));
    try (var lines = new BufferedReader(new InputStreamReader(resource, StandardCharsets.UTF_8))) {
      return lines.lines().skip(1).map(Pair::of).toList();
    }
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void verify_pair_isPaidIfItIsRight(Pair pair) {
    for (MathVerifier verifier : VERIFIERS) {
      Verdict.Scored verdict = verdict(verifier, pair, "\\boxed{%s}".formatted(pair.answer()));
      assertThat(verdict.passed()).as("%s: %s", pair, verdict).isEqualTo(pair.right());
    }
  }

  @ParameterizedTest
  @CsvSource({"held-out.tsv,\\boxed{%s}", "completions.tsv,%s"})
  void verify_table_paysTheRightOnesAlone(String table, String form) throws IOException {
    List<String> misjudged = new ArrayList<>();
    for (Pair pair : pairs(table)) {
      for (MathVerifier verifier : VERIFIERS) {
        Verdict.Scored verdict = verdict(verifier, pair, form.formatted(pair.answer()));
        if (verdict.passed() != pair.right()) {
          misjudged.add("%s: %s".formatted(pair, verdict));
        }
      }
    }
    assertThat(misjudged).isEmpty();
  }

  private static Verdict.Scored verdict(MathVerifier verifier, Pair pair, String completion) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", pair.gold(), "");
    return (Verdict.Scored) verifier.verify(prompt, completion);
  }
}
