package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.Verdict;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that look at what a function did to its arguments, and at objects of the program's own
 * classes: right programs pass, and those that only look right do not.
 */
class ArgumentsAndObjectsTest {
  private static final String SORTS = "def f(a):\n    a.sort()";
  private static final String CLEARS = "def f(a):\n    a.clear()\n    return []";
  private static final String CLASS = "class P:\n    def __init__(self, x): self.x = x\n";
  private static final String ALIKE = CLASS + "    def __eq__(self, other): return True\n";
  private static final String MAKES = "def f(x): return P(x)";

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

  static Stream<Arguments> rows() {
    String inPlace = "x = [3, 1, 2]\nf(x)\nassert x == [1, 2, 3]";
    String byValue = "x = [3, 1, 2]\nassert f(x) == sorted(x)";
    return Stream.of(
        right("sorts in place", inPlace, SORTS),
        right("sorts in place and returns it", inPlace, SORTS + "\n    return a"),
        wrong("returns a sorted copy alone", inPlace, "def f(a): return sorted(a)"),
        wrong("does nothing", inPlace, "def f(a): pass"),
        wrong("clears", inPlace, CLEARS),
        right("nothing is returned", "x = [2, 1]\nassert f(x) is None\nassert x == [1, 2]", SORTS),
        right("a keyword", "x = [2, 1]\nf(a=x)\nassert x == [1, 2]", SORTS),
        right(
            "a keyword of any name",
            "x = []\nf(function=x)\nassert x == [1]",
            "def f(function): function.append(1)"),
        right("rows", "m = [[1, 2], [3]]\nf(m)\nassert m == [[3], [1, 2]]", reverses()),
        right("a dict", "d = {'a': 1}\nf(d)\nassert d == {'a': 2}", "def f(d): d['a'] += 1"),
        right("a set", "s = {1, 2}\nf(s)\nassert s == {1}", "def f(s): s.discard(2)"),
        right(
            "check(candidate)",
            "def check(f):\n    x = [2, 1]\n    f(x)\n    assert x[0] == 1\ncheck(f)",
            SORTS),
        right("sorted(x) of the argument", byValue, SORTS + "\n    return a"),
        wrong("clears what is expected", byValue, CLEARS),
        wrong("makes the dict expected", "d = {'a': 1}\nassert f(d) == len(d)", empties()),
        right("uses its argument up", "x = [1, 2]\nassert f(x) == 3\nassert f(x) == 3", pops()),
        right("str", "assert str(f(3)) == 'P(3)'", says("__str__")),
        right("repr", "assert repr(f(3)) == 'P(3)'", says("__repr__")),
        right("format", "assert f'{f(3)}' == 'P(3)'", says("__str__")),
        right("in a list", "assert str([f(3)]) == '[P(3)]'", says("__repr__")),
        wrong("no text of its own", "assert str(f(3)) == 'P(3)'", CLASS + MAKES),
        wrong("a text that is no text", "assert str(f(3)) == 'P(3)'", saysAnything()),
        wrong("equal to all", "assert f(3) == 3", ALIKE + MAKES),
        wrong("equal to all, its class", "assert f(3) == P(4)", ALIKE + MAKES),
        wrong("equal to all, in a list", "assert [f(3)] == [3]", ALIKE + MAKES),
        wrong("equal to all, contained", "assert f(3) in (1, 3)", ALIKE + MAKES),
        wrong("ends when shown", "assert str(f(3)) == 'P(3)'", CLASS + ends() + MAKES));
  }

  private static String reverses() {
    return "def f(m): m.reverse()";
  }

  private static String empties() {
    return "def f(d):\n    d.clear()\n    return 0";
  }

  private static String pops() {
    return "def f(a):\n    total = 0\n    while a: total += a.pop()\n    return total";
  }

  private static String says(String method) {
    return CLASS + "    def %s(self): return 'P(%%d)' %% self.x\n".formatted(method) + MAKES;
  }

  private static String saysAnything() {
    return """
        class Text(str):
            def __eq__(self, other): return True
        class P:
            def __init__(self, x): pass
            def __str__(self): return Text('')
        def f(x): return P(x)
        """;
  }

  private static String ends() {
    return "    def __str__(self): __import__('os')._exit(0)\n";
  }

  private static Arguments right(String name, String test, String program) {
    return Arguments.of(name, test, program, 1.0);
  }

  private static Arguments wrong(String name, String test, String program) {
    return Arguments.of(name, test, program, 0.0);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void verify_program_isPaidIfItIsRight(String name, String test, String program, double reward) {
    Verdict verdict =
        new CodeVerifier(CodeProfile.mbpp(), sandbox).verify(CodePrompts.asserts(test), program);
    assertThat(verdict)
        .as(name)
        .isInstanceOfSatisfying(
            Verdict.Scored.class, scored -> assertThat(scored.reward()).isEqualTo(reward));
  }
}
