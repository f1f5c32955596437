package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CodeVerifierTest {
  private static Sandbox sandbox;

  @BeforeAll
  static void open() throws SandboxUnavailableException {
    sandbox =
        Sandbox.open(
            SandboxSettings.standard()
                .withWorkers(1)
                .withWall(Duration.ofSeconds(60), Duration.ofSeconds(60)));
  }

  @AfterAll
  static void close() {
    sandbox.close();
  }

  @Test
  void verify_someTestsFail_namesTheFirstAndPaysByProfile() {
    var prompt = CodePrompts.asserts("assert f(1) == 1", "assert f(2) == 4", "assert f(3) == 9");
    String code = "def f(x):\n    if x == 2: raise ValueError('two')\n    return x * x";
    Verdict.Scored verdict = scored(CodeProfile.mbpp(), prompt, code);
    assertThat(verdict.reward()).isEqualTo(0.0);
    assertThat(verdict.reason()).isEqualTo("2 of 3 tests passed; test 2: ValueError: two");
    assertThat(verdict.checks())
        .containsExactly(
            new Check("test 1", true), new Check("test 2", false), new Check("test 3", true));
    assertThat(scored(CodeProfile.mbpp().withPartialCredit(true), prompt, code).reward())
        .isEqualTo(2 / 3.0);
  }

  @Test
  void verify_programThatHangs_isScoredAsTimeout() throws SandboxUnavailableException {
    Duration second = Duration.ofSeconds(1);
    try (Sandbox impatient =
        Sandbox.open(SandboxSettings.standard().withWorkers(1).withWall(second, second))) {
      assertThat(
              new CodeVerifier(CodeProfile.mbpp(), impatient)
                  .verify(CodePrompts.asserts("assert f(1) == 1"), "while True: pass"))
          .isInstanceOfSatisfying(
              Verdict.Scored.class,
              verdict ->
                  assertThat(verdict.reason())
                      .isEqualTo("0 of 1 tests passed; test 1: timeout after 1 s"));
    }
  }

  @Test
  void verify_programThatEndsItself_saysHow() {
    Verdict.Scored verdict =
        scored(
            CodeProfile.mbpp(),
            CodePrompts.asserts("assert f(1) == 1"),
            "import os\ndef f(x): os._exit(0)");
    assertThat(verdict.reason())
        .isEqualTo("0 of 1 tests passed; test 1: it ended itself with status 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[]",
        "{\"tests\": []}",
        "{\"tests\": \"assert f(1)\"}",
        "{\"tests\": [\"\"]}",
        "{\"tests\": [3]}",
        "{\"tests\": [\"assert True\"]}",
        "{\"tests\": [\"assert f(1\"]}",
        "{\"tests\": [\"assert f(1)\"], \"setup\": \"import no_such_module\"}",
        "{\"tests\": [\"assert f(1)\"], \"test\": \"def check(c): pass\"}",
        "{\"test\": \"def check(c): pass\", \"entry_point\": \"f\", \"prompt\": \"\"}",
        "{\"test\": \"x = 1\", \"entry_point\": \"f\", \"prompt\": \"\"}",
        "{\"test\": \"def check(c): c(1)\"}",
        "{\"inputs\": [\"1\"], \"outputs\": [\"\"]}",
        "{\"inputs\": [\"1\"], \"outputs\": []}",
        "{\"inputs\": [], \"outputs\": []}",
        "{\"inputs\": [\"1\"], \"outputs\": [\"1\"], \"fn_name\": \"f\"}"
      })
  void verify_brokenTests_isUnverifiableWhateverTheProgram(String answer) {
    Verdict verdict =
        new CodeVerifier(CodeProfile.mbpp(), sandbox)
            .verify(CodePrompts.of(answer), "def f(x):\n    return True");
    assertThat(verdict)
        .isInstanceOfSatisfying(
            Verdict.Unverifiable.class,
            u -> assertThat(u.cause()).isEqualTo(Verdict.Cause.BAD_INPUT));
  }

  @Test
  void verify_functionNamedLikeBuiltin_isTheProgramsOnlyWhereTestsMeanIt() {
    assertThat(reward(CodePrompts.asserts("assert sum(10, 15) == 6"), "def sum(a, b): return 6"))
        .isEqualTo(1.0);
    assertThat(
            reward(
                CodePrompts.asserts("assert set(f(1)) == set((4, 5))"),
                "def set(x): return 1\ndef f(x): return []"))
        .isEqualTo(0.0);
  }

  @Test
  void verify_objectsOfTheProgram_areUsedThroughHandles() {
    String answer =
        """
        {"setup": "root = Node(1)\\nroot.next = Node(2)", "tests": ["assert total(root) == 3"]}
        """;
    String code =
        """
        class Node:
            def __init__(self, value):
                self.value, self.next = value, None
        def total(node):
            return 0 if node is None else node.value + total(node.next)
        """;
    assertThat(reward(CodePrompts.of(answer), code)).isEqualTo(1.0);
  }

  @Test
  void verify_valuesOfAllKinds_arriveAsTheyAre() {
    assertThat(
            reward(
                CodePrompts.asserts(
                    "assert f(1) == (1, [2.5, None], {3: {'a'}}, b'x', 1j, 10 ** 30)",
                    "assert g() == {'a': 2} and type(g()).__name__ == 'Counter'",
                    "assert list(h()) == [0, 1, 4]",
                    "assert match('ab') and not match('b')",
                    "assert k([1, 2], key=int) is int",
                    "try:\n    boom()\n    assert False\nexcept ZeroDivisionError:\n    pass"),
                """
                import collections
                def f(x): return (1, [2.5, None], {3: {'a'}}, b'x', 1j, 10 ** 30)
                def g(): return collections.Counter('aa')
                def h(): return (x * x for x in range(3))
                def k(values, key): return key
                def match(text): return __import__('re').match('a', text)
                def boom(): return 1 // 0
                """))
        .isEqualTo(1.0);
  }

  @Test
  void verify_checkFunctionAsTest_isCalledWithTheEntryPoint() {
    String answer =
        """
        {"tests": ["def check(candidate):\\n    assert candidate(2) == 4"], "entry_point": "f"}
        """;
    assertThat(reward(CodePrompts.of(answer), "def f(x): return x * x")).isEqualTo(1.0);
    assertThat(reward(CodePrompts.of(answer), "def f(x): return x")).isEqualTo(0.0);
  }

  @Test
  void verify_callsOfSolutionClass_agreeAsAppsMeansIt() {
    String answer =
        """
        {"fn_name": "f", "inputs": [[1], [2], [{"1": 2}]], "outputs": [[1, 0.5], [[2, 1.0]], 2]}
        """;
    String code =
        """
        class Solution:
            def f(self, x):
                return x[1] if isinstance(x, dict) else (x, 1 / (3 - x) + 1e-9)
        """;
    Verdict.Scored verdict = scored(CodeProfile.apps(), CodePrompts.of(answer), code);
    assertThat(verdict.reward()).isEqualTo(1.0);
  }

  @Test
  void verify_wholeProgram_isJudgedByOutputAndStatus() {
    var prompt =
        CodePrompts.of("{\"inputs\": [\"1 2\\n\", \"3 4\\n\"], \"outputs\": [\"3\\n\", \"8\\n\"]}");
    String sum = "print(sum(map(int, input().split())))";
    Verdict.Scored verdict = scored(CodeProfile.apps(), prompt, sum);
    assertThat(verdict.reward()).isEqualTo(0.5);
    assertThat(verdict.reason()).isEqualTo("1 of 2 tests passed; test 2: another output");
    assertThat(scored(CodeProfile.apps(), prompt, sum + "\nraise KeyError(1)").reason())
        .isEqualTo("0 of 2 tests passed; test 1: KeyError");
    assertThat(scored(CodeProfile.apps(), prompt, sum + "\nexit(0)").reward()).isEqualTo(0.5);
  }

  @Test
  void verify_completionOfAMillionCharacters_isJudged() {
    String code = "def f(x):\n    return x\n" + "# padding\n".repeat(100_000);
    assertThat(
            reward(CodePrompts.asserts("assert f(1) == 1"), "\ufeff" + code.replace("\n", "\r\n")))
        .isEqualTo(1.0);
  }

  private static double reward(io.troupe.core.prompt.Prompt prompt, String completion) {
    return scored(CodeProfile.mbpp(), prompt, completion).reward();
  }

  private static Verdict.Scored scored(
      CodeProfile profile, io.troupe.core.prompt.Prompt prompt, String completion) {
    Verdict verdict = new CodeVerifier(profile, sandbox).verify(prompt, completion);
    assertThat(verdict).isInstanceOf(Verdict.Scored.class);
    return (Verdict.Scored) verdict;
  }
}
