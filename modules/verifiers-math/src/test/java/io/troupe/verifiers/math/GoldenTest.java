package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.AnswerPart;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.JudgedText;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The verdicts of {@code golden.tsv}. */
class GoldenTest {
  /** Classes where the gold may say less than the answer, but not the other way round. */
  private static final Set<String> DIRECTED =
      Set.of("unit", "words", "guard", "extract", "unsolved");

  /** A row of the table; {@code ⏎} stands for a newline. */
  record Row(String form, String verdict, String type, String gold, String answer, String source) {
    static Row of(String line) {
      String[] cells = line.replace('⏎', '\n').split("\t", 6);
      return new Row(cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]);
    }
  }

  static List<Row> rows() throws IOException {
    var resource = Objects.requireNonNull(GoldenTest.class.getResourceAsStream("golden.tsv"));
    try (var lines = new BufferedReader(new InputStreamReader(resource, StandardCharsets.UTF_8))) {
      return lines.lines().skip(1).map(Row::of).toList();
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void verify_goldenTable_agrees(Row row) {
    assertVerdict(row, row.gold(), row.answer());
    if (row.form().equals("answer") && !DIRECTED.contains(row.type())) {
      assertVerdict(row, row.answer(), row.gold());
    }
  }

  private static void assertVerdict(Row row, String gold, String answer) {
    String completion =
        row.form().equals("answer") ? "So it is $\\boxed{%s}$.".formatted(answer) : answer;
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", gold, "");
    Verdict.Scored verdict =
        switch (AnswerPart.of(completion, false)) {
          case AnswerPart.Answer(var text, var tagged) ->
              (Verdict.Scored)
                  MathVerifier.training().verify(prompt, new JudgedText(text, false, tagged));
          case AnswerPart.UnfinishedThought _ -> new Verdict.Scored(0, "", "an unfinished thought");
        };
    assertThat(verdict.passed())
        .as("%s: %s", row, verdict)
        .isEqualTo(row.verdict().equals("equal"));
    if (row.verdict().equals("too large")) {
      assertThat(verdict.reason()).isEqualTo("too large to evaluate");
    }
  }
}
