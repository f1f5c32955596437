package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first three vectors are those of the source system; the others say where we differ. */
final class CodeExtractionTest {
  private static final String PROMPT = "import math\n\ndef f(x):\n    \"\"\"Doubles.\"\"\"\n";

  @Test
  void of_unfencedAndPythonFence_isThePythonOne() {
    assertThat(code("```\nplain\n```\nand\n```python\na=1\n```\n")).isEqualTo("a=1");
    assertThat(code("x = 0\n```python\na=1\n```")).isEqualTo("a=1");
  }

  @Test
  void of_twoPythonFences_joinsThemByABlankLine() {
    assertThat(code("One:\n```python\na=1\n```\nTwo:\n```py\nb=2\n```")).isEqualTo("a=1\n\nb=2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "~~~python\na=1\n~~~",
        "````python\na=1\n````\nmore",
        "```python {.numberLines}\na=1\n```",
        "1. So:\n   ```python\n   a=1\n   ```\n2. And:\n   ```sh\n   ls\n   ```",
        "```Python\na=1\n```",
      })
  void of_anyFenceOfMarkdown_isFound(String completion) {
    assertThat(code(completion)).isEqualTo("a=1");
  }

  @Test
  void of_fenceInADocstring_isPartOfTheProgram() {
    String body = "def f():\n    \"\"\"\n    ```\n    f()\n    ```\n    \"\"\"\n    return 1";
    assertThat(code("```python\n%s\n```\nmore".formatted(body))).isEqualTo(body);
    assertThat(code("So: ```python\n%s\n   ```\nmore".formatted(body))).isEqualTo(body);
    assertThat(code("   ```python\n%s\n   ```".formatted(body.indent(3).stripTrailing())))
        .isEqualTo(body);
  }

  @Test
  void of_fenceInAListItem_endsAtItsMargin() {
    assertThat(code("10. ```python\n    a=1\n    ```\n\n```sh\nls\n```").strip()).isEqualTo("a=1");
  }

  @Test
  void of_bodyBeforeAFence_isTheBody() {
    assertThat(code("    return x\n```\nblah")).isEqualTo("    return x");
  }

  @Test
  void of_doneMark_endsTheCode() {
    assertThat(code("def f(): pass\n[DONE]\nmore")).isEqualTo("def f(): pass");
    assertThat(code("def f(): pass [DONE]")).isEqualTo("def f(): pass ");
  }

  @Test
  void of_pythonFenceCutOff_countsAsCode() {
    assertThat(code("```python\na=1\nb=")).isEqualTo("a=1\nb=");
  }

  @Test
  void of_byteOrderMarkAndCarriageReturns_areDropped() {
    assertThat(code("\ufeffa=1\r\nb=2\rc=3")).isEqualTo("a=1\nb=2\nc=3");
  }

  @Test
  void firstBlock_twoFunctions_isTheFirst() {
    assertThat(
            CodeExtraction.firstBlock("import re\ndef f():\n    pass\n\n@cache\ndef g():\n    1"))
        .isEqualTo("import re\ndef f():\n    pass");
    assertThat(CodeExtraction.firstBlock("def f():\n    pass\n")).isEqualTo("def f():\n    pass\n");
  }

  @Test
  void continuing_body_endsWhereSomethingElseBegins() {
    assertThat(program("    return 2 * x\n\nprint(f(3))")).isEqualTo(PROMPT + "    return 2 * x\n");
  }

  @Test
  void continuing_bodyWithoutItsMargin_getsItBack() {
    assertThat(program("y = 2 * x\n    return y"))
        .isEqualTo(PROMPT + "    y = 2 * x\n    return y");
    assertThat(program("y = 2 * x\nreturn y")).isEqualTo(PROMPT + "    y = 2 * x\n    return y");
  }

  @Test
  void continuing_signatureWrittenAgain_replacesThePrompts() {
    assertThat(program("```python\ndef f(x):\n    return g(x)\n\ndef g(x):\n    return 2 * x\n```"))
        .isEqualTo("import math\n\ndef f(x):\n    return g(x)\n\ndef g(x):\n    return 2 * x");
    assertThat(program("def f(x):\n    return 2 * x\n\ndef test_f():\n    asse"))
        .isEqualTo("import math\n\ndef f(x):\n    return 2 * x\n");
  }

  private static String code(String completion) {
    return CodeExtraction.of(completion).code();
  }

  private static String program(String completion) {
    return CodeExtraction.of(completion).continuing(PROMPT, "f");
  }
}
