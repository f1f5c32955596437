package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Fuzz;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The treatment of a hostile completion outside of the sandbox: reading, and comparing output. */
class CodeFuzzTest {
  private static final List<String> PIECES =
      List.of(
          "```",
          "```python\n",
          "~~~",
          "\n",
          "\r\n",
          "def f(",
          "async def f(",
          "class A:",
          "    ",
          "\t",
          "@",
          "return",
          "[DONE]",
          "[BEGIN]",
          "</think>",
          "<answer>",
          ":",
          "\"\"\"",
          "\\",
          "\u2028",
          "\ud83d");

  private static final List<String> COMPLETIONS =
      List.of(
          "Here it is:\n```python\ndef f(a):\n    return a\n```\nand a test:\n```\nf(1)\n```",
          "def f(a):\n    return a\n[DONE]\n",
          "    return a\n\ndef g():\n    pass\n",
          "<think>def f(): pass</think>@cache\nasync def f(a):\n\treturn a");

  @Test
  void extraction_anyCompletion_givesTextOfIt() {
    new Fuzz("code extraction", COMPLETIONS, PIECES)
        .run(
            20_000,
            (text, _) -> {
              CodeExtraction extraction = CodeExtraction.of(text);
              assertThat(extraction.code().length()).isLessThanOrEqualTo(text.length() + 1);
              assertThat(CodeExtraction.firstBlock(extraction.code()).length())
                  .isLessThanOrEqualTo(extraction.code().length());
              assertThat(extraction.continuing("import re\n\ndef f(a):\n", "f")).isNotEmpty();
            });
  }

  @Test
  void problem_anyAnswer_isReadOrSaidToBeBroken() {
    List<String> answers =
        List.of(
            "{\"tests\": [\"assert f(1) == 1\"], \"setup\": \"import re\", \"entry_point\": \"f\"}",
            "{\"test\": \"def check(c):\\n  pass\", \"entry_point\": \"f\", \"prompt\": \"\"}",
            "{\"inputs\": [\"1\\n\", [\"a\"]], \"outputs\": [\"2\", [\"b\"]]}",
            "{\"fn_name\": \"f\", \"inputs\": [[1, [2.5]]], \"outputs\": [null]}");
    new Fuzz(
            "code problems",
            answers,
            List.of("{", "}", "[", "]", ",", "null", "1e999", "\"", "\\u0000", "[[", "-0"))
        .run(20_000, (text, _) -> assertThat(CodeProblem.parse(text)).isNotNull());
  }

  @Test
  void comparison_anyOutputs_isReflexiveAndSymmetric() {
    List<String> outputs = List.of("1 2 3\n4\n", "0.1 1e-7 nan inf", "yes\r\nno\r\n", "-5");
    new Fuzz(
            "output comparison",
            outputs,
            List.of("1e999", "-0.0", "nan", "0x1p3", "1_000", " ", "\n", "\t", "9999", ".", "1d"))
        .run(
            20_000,
            (text, random) -> {
              String other = outputs.get(random.nextInt(outputs.size()));
              for (OutputComparison comparison : OutputComparison.values()) {
                assertThat(comparison.agree(text, text)).as("%s", comparison).isTrue();
                assertThat(comparison.agree(text, other))
                    .as("%s", comparison)
                    .isEqualTo(comparison.agree(other, text));
              }
            });
  }
}
