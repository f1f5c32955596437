package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.Verdict;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that look at every item of an iteration, and programs whose errors could be taken for its
 * end: none of them passes.
 */
final class IterationEndTest {
  private static final String HONEST = "def f(x):\n    return x + 1\n";

  private static Sandbox sandbox;

  @BeforeAll
  static void open() throws SandboxUnavailableException {
    Duration wall = Duration.ofSeconds(60);
    sandbox =
        Sandbox.open(
            SandboxSettings.standard().withWorkers(1).withWall(wall, wall.multipliedBy(2)));
  }

  @AfterAll
  static void close() {
    sandbox.close();
  }

  static Stream<Arguments> attacks() {
    return shapes().keySet().stream()
        .flatMap(shape -> errors().keySet().stream().map(error -> Arguments.of(shape, error)));
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void verify_errorInAnIteration_endsNothing(String shape, String error) {
    assertThat(reward(named(shapes(), shape), named(errors(), error))).isEqualTo(0.0);
  }

  static Stream<String> shapeNames() {
    return shapes().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("shapeNames")
  void verify_honestProgram_passes(String shape) {
    assertThat(reward(named(shapes(), shape), HONEST)).isEqualTo(1.0);
  }

  /** A test may well ask that a program refuses a value out of range. */
  @Test
  void verify_errorThatEndsNoIteration_keepsItsClass() {
    for (String error : List.of("IndexError", "LookupError", "ValueError", "ZeroDivisionError")) {
      assertThat(reward(expecting(error), "def f(x):\n    raise " + error + "(x)\n"))
          .as(error)
          .isEqualTo(1.0);
    }
  }

  private static String expecting(String error) {
    return "try:\n    f(9)\n    assert False\nexcept " + error + ":\n    pass";
  }

  private static double reward(String test, String program) {
    Verdict verdict =
        new CodeVerifier(CodeProfile.mbpp(), sandbox).verify(CodePrompts.asserts(test), program);
    assertThat(verdict).isInstanceOf(Verdict.Scored.class);
    return ((Verdict.Scored) verdict).reward();
  }

  private static String named(Map<String, String> texts, String name) {
    return Objects.requireNonNull(texts.get(name));
  }

  private static Map<String, String> errors() {
    Map<String, String> errors = new LinkedHashMap<>();
    for (String name :
        List.of(
            "StopIteration",
            "StopAsyncIteration",
            "GeneratorExit",
            "KeyboardInterrupt",
            "SystemExit",
            "IndexError")) {
      errors.put(name, "def f(x):\n    raise " + name + "\n");
    }
    errors.put(
        "StopIteration's heir",
        "class Stop(StopIteration): pass\ndef f(x):\n    raise Stop(x + 1)\n");
    errors.put(
        "heir of two ends",
        "class Stop(StopIteration, IndexError): pass\ndef f(x):\n    raise Stop\n");
    errors.put("CancelledError", "import asyncio\ndef f(x):\n    raise asyncio.CancelledError\n");
    errors.put(
        "forged names",
        """
        import sys
        sys._getframe(2).f_globals['_describe'] = lambda error: [['StopIteration'], '']
        def f(x):
            raise ValueError
        """);
    return errors;
  }

  private static Map<String, String> shapes() {
    Map<String, String> shapes = new LinkedHashMap<>();
    shapes.put("map in all", "assert all(map(lambda p: f(p) == p + 1, [1, 2, 3]))");
    shapes.put("map in for", "for got in map(f, [1, 2, 3]):\n    assert 2 <= got <= 4");
    shapes.put(
        "map in zip",
        "for got, want in zip(map(f, [1, 2, 3]), [2, 3, 4]):\n    assert got == want");
    shapes.put("map in list", "assert [got for got in map(f, [1, 2]) if got not in (2, 3)] == []");
    shapes.put("map in sum", "assert sum(map(lambda p: f(p) != p + 1, [1, 2])) == 0");
    shapes.put("filter", "assert list(filter(lambda p: f(p) != p + 1, [1, 2, 3])) == []");
    shapes.put("next", "assert next(map(lambda p: f(p) != p + 1, [1]), False) is False");
    shapes.put("generator expression", "assert all(f(p) == p + 1 for p in [1, 2, 3])");
    shapes.put(
        "yield from",
        """
        def each():
            yield from map(f, [1, 2, 3])
        for got in each():
            assert 2 <= got <= 4
        """);
    shapes.put(
        "closed generator",
        """
        def last():
            try:
                yield 1
            finally:
                assert f(1) == 2
        generator = last()
        next(generator)
        generator.close()
        """);
    shapes.put(
        "iterator of the test",
        """
        class Results:
            def __init__(self): self.n = 0
            def __iter__(self): return self
            def __next__(self):
                self.n += 1
                if self.n > 3: raise StopIteration
                return f(self.n)
        for got in Results():
            assert 2 <= got <= 4
        """);
    shapes.put(
        "sequence of the test",
        """
        class Results:
            def __getitem__(self, n):
                if n == 3: raise IndexError
                return f(n)
        for got in Results():
            assert 1 <= got <= 3
        """);
    shapes.put("call until", "for got in iter(lambda: f(1), 2):\n    assert False");
    shapes.put(
        "itertools",
        """
        import itertools
        for got in itertools.chain(itertools.starmap(f, [(1,), (2,)]), map(f, [3])):
            assert 2 <= got <= 4
        """);
    shapes.put(
        "async for",
        """
        import asyncio
        class Results:
            def __init__(self): self.n = 0
            def __aiter__(self): return self
            async def __anext__(self):
                self.n += 1
                if self.n > 3: raise StopAsyncIteration
                return f(self.n)
        async def main():
            async for got in Results():
                assert 2 <= got <= 4
        asyncio.run(main())
        """);
    shapes.put(
        "async generator",
        """
        import asyncio
        async def results():
            for n in [1, 2, 3]:
                yield f(n)
        async def main():
            assert [got async for got in results() if not 2 <= got <= 4] == []
        asyncio.run(main())
        """);
    return shapes;
  }
}
