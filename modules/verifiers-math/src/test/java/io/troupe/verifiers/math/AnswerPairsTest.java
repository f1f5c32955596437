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
import org.junit.jupiter.params.provider.ValueSource;

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
      Verdict.Scored verdict = verdict(verifier, pair, box(pair.answer()));
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

  /** A box in the box and the letter of a choice are read whatever is beside them. */
  @ParameterizedTest
  @ValueSource(
      strings = {"\\text{not } %s", "not %s", "\\text{less than } %s", "\\text{twice } %s"})
  void verify_rightAnswerBehindWordsThatTurnIt_isNotPaid(String form) throws IOException {
    MathVerifier verifier = MathVerifier.training();
    List<Pair> paid =
        pairs("held-out.tsv").stream()
            .filter(pair -> pair.right() && !pair.answer().contains("box"))
            .filter(pair -> pair.gold().matches(".*[1-9].*"))
            .filter(pair -> verdict(verifier, pair, box(form.formatted(pair.answer()))).passed())
            .toList();
    assertThat(paid).isEmpty();
  }

  private static String box(String answer) {
    return "\\boxed{%s}".formatted(answer);
  }

  private static Verdict.Scored verdict(MathVerifier verifier, Pair pair, String completion) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", pair.gold(), "");
    return (Verdict.Scored) verifier.verify(prompt, completion);
  }
}
