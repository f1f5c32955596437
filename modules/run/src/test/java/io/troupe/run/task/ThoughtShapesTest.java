package io.troupe.run.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.AnswerPart;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every verifier that reads an answer, against every shape of a thought. */
class ThoughtShapesTest {
  @TempDir Path folder;

  /**
   * A verifier with an answer that it takes and one that it does not.
   *
   * @param gold by which it judges
   */
  record Row(
      String verifier, Map<String, String> options, String gold, String right, String wrong) {
    @Override
    public String toString() {
      return verifier + options;
    }
  }

  /**
   * A completion, with {@code R} and {@code W} for the right and the wrong answer.
   *
   * @param right whether it is one
   */
  private record Shape(boolean open, String text, boolean right, boolean unfinished) {}

  private static final List<Shape> SHAPES =
      List.of(
          new Shape(false, "R", true, false),
          new Shape(false, "<think>W</think>R", true, false),
          new Shape(false, "<think>R</think>W", false, false),
          new Shape(false, "<think>\nW\n</think>\n\n<answer>R</answer>", true, false),
          new Shape(false, "<think>W</think>W<think>W</think>R", true, false),
          new Shape(false, "<think>R</think>R<think>R</think>W", false, false),
          new Shape(false, "<think>R</think>I give up.", false, false),
          new Shape(false, "<think>R", false, true),
          new Shape(false, "R<think>R", false, true),
          new Shape(true, "W</think>R", true, false),
          new Shape(true, "R</think>W", false, false),
          new Shape(true, "R", false, true),
          new Shape(true, "<think>W</think>R", true, false),
          new Shape(false, "[THINK]W[/THINK]R", true, false),
          new Shape(false, "[THINK]R", false, true),
          new Shape(false, "<|channel>thought\nW<channel|>R", true, false),
          new Shape(
              false,
              "<|channel|>analysis<|message|>W<|end|><|start|>assistant<|channel|>final<|message|>R",
              true,
              false));

  private static final String FUNCTION = "```python\ndef f(x):\n    return %s\n```";

  static List<Row> rows() {
    Map<String, String> unsandboxed = Map.of("allow_unsandboxed", "true");
    String right = FUNCTION.formatted("2 * x");
    String wrong = FUNCTION.formatted("missing");
    String noComma =
        "{\"instruction_id_list\": [\"punctuation:no_comma\"], \"kwargs\": [{}], \"prompt\": \"\"}";
    String python = "{\"tests\": [\"assert f(2) == 4\"]}";
    return List.of(
        new Row("numeric", Map.of(), "18", "18", "17"),
        new Row("choice", Map.of(), "C", "C", "The answer is B."),
        new Row("text", Map.of(), "red", "red", "blue"),
        new Row("math", Map.of(), "18", "\\boxed{18}", "\\boxed{17}"),
        new Row("gsm8k", Map.of("mode", "strict"), "18", "The answer is 18.", "The answer is 17."),
        new Row("gsm8k", Map.of("mode", "flexible"), "18", "18", "17"),
        new Row("gsm8k", Map.of(), "18", "#### 18", "#### 17"),
        new Row("mbpp", unsandboxed, python, right, wrong),
        new Row(
            "humaneval",
            unsandboxed,
            "{\"prompt\": \"def f(x):\\n    pass\\n\", "
                + "\"entry_point\": \"f\", \"test\": \"def check(f):\\n"
                + "    assert f(2) == 4\"}",
            right,
            wrong),
        new Row(
            "apps",
            unsandboxed,
            "{\"inputs\": [[2]], \"outputs\": [4], \"fn_name\": \"f\"}",
            right,
            wrong),
        new Row("ifeval", Map.of(), noComma, "No comma here", "a, b"),
        new Row("if-multi", Map.of(), noComma, "No comma here", "a, b"),
        new Row(
            "rlvr-ifeval",
            Map.of(),
            "{\"func_name\": \"validate_no_commas\"}",
            "No comma here",
            "a, b"));
  }

  private static VerifierService open(String verifier, Map<String, String> options)
      throws Exception {
    return VerifierServices.open(
        new VerifierSpec(verifier, options, List.of()),
        PoolSettings.of(1).withDeadline(Duration.ofSeconds(60)));
  }

  private static Verdict.Scored judged(VerifierService service, String gold, EpisodeText text) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "Q", gold, "");
    Verdict verdict = service.verify(prompt, text).toCompletableFuture().join();
    assertThat(verdict).isInstanceOf(Verdict.Scored.class);
    return (Verdict.Scored) verdict;
  }

  @ParameterizedTest
  @MethodSource("rows")
  void verify_anyShapeOfAThought_theAnswerBehindItCounts(Row row) throws Exception {
    try (VerifierService service = open(row.verifier(), row.options())) {
      for (Shape shape : SHAPES) {
        // A text without an answer follows an instruction that forbids something.
        boolean instruction = row.verifier().contains("if");
        String text = shape.text().replace("R", "\0").replace("W", row.wrong());
        EpisodeText episode = EpisodeText.of(text.replace("\0", row.right()), shape.open());
        Verdict.Scored verdict = judged(service, row.gold(), episode);
        if (!(instruction && text.endsWith("I give up."))) {
          assertThat(verdict.reward())
              .as("%s: %s", shape, verdict.reason())
              .isEqualTo(shape.right() ? 1 : 0);
        }
        assertThat(verdict.reason().equals(AnswerPart.UnfinishedThought.REASON))
            .as("%s: %s", shape, verdict.reason())
            .isEqualTo(shape.unfinished());
      }
    }
  }

  @Test
  void verify_thoughtsKept_theWholeTextIsJudged() throws Exception {
    try (VerifierService service = open("rlvr-ifeval", Map.of("thoughts", "keep"))) {
      String gold = "{\"func_name\": \"validate_no_commas\"}";
      assertThat(judged(service, gold, EpisodeText.of("<think>a, b</think>No")).reward()).isZero();
      assertThat(judged(service, gold, EpisodeText.of("a b", true)).reward()).isOne();
    }
  }

  @Test
  void verify_programThatNamesTheMark_isNotCutThere() throws Exception {
    String program = "```python\ndef f(x):\n    return x.split('</think>')[-1]\n```";
    try (VerifierService service = open("mbpp", Map.of("allow_unsandboxed", "true"))) {
      String gold = "{\"tests\": [\"assert f('a</think>b') == 'b'\"]}";
      assertThat(judged(service, gold, EpisodeText.of("<think>t</think>" + program)).reward())
          .isOne();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "keep, <think>T</think>A, false",
    "drop, A, false",
  })
  void verify_command_isShownWhatItsOptionSays(String thoughts, String shown, boolean open)
      throws Exception {
    String program =
        """
        import json, sys
        print('{"ready": true}', flush=True)
        for line in sys.stdin:
            q = json.loads(line)
            print(json.dumps({"seq": q["seq"], "reward": 1,
                "reason": q["completion"] + "|" + str(q["thought_open"]).lower()}), flush=True)
        """;
    Path file = Files.writeString(folder.resolve("shown.py"), program);
    try (VerifierService service =
        open("command", Map.of("run", "python3 -u " + file, "thoughts", thoughts))) {
      assertThat(judged(service, "", EpisodeText.of("<think>T</think>A")).reason())
          .isEqualTo(shown + "|" + open);
    }
  }
}
