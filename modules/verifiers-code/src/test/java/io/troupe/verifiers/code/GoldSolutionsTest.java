package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.code.CodePrompts.Gold;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The benchmarks' own solutions pass, and spoilt ones do not.
 *
 * <p>Every tenth problem; all of them with {@code -Dtroupe.code.every=1}, as {@code
 * docs/verifiers.md} tells.
 */
final class GoldSolutionsTest {
  private static final int EVERY = Integer.getInteger("troupe.code.every", 10);
  private static Sandbox sandbox;

  @BeforeAll
  static void open() throws SandboxUnavailableException {
    // One solution of MBPP's computes for seconds; other builds may share the machine.
    sandbox =
        Sandbox.open(
            SandboxSettings.standard()
                .withWorkers(2)
                .withWall(Duration.ofSeconds(30), Duration.ofSeconds(30)));
  }

  @AfterAll
  static void close() {
    sandbox.close();
  }

  @Test
  void verify_goldOfMbpp_passes() throws Exception {
    assertThat(failures(CodeProfile.mbpp(), CodePrompts.mbpp(), UnaryOperator.identity()))
        .isEmpty();
  }

  @Test
  void verify_goldOfSanitizedMbpp_passes() throws Exception {
    assertThat(failures(CodeProfile.mbpp(), CodePrompts.mbppSanitized(), UnaryOperator.identity()))
        .isEmpty();
  }

  @Test
  void verify_goldOfHumanEval_passes() throws Exception {
    assertThat(failures(CodeProfile.humanEval(), CodePrompts.humanEval(), UnaryOperator.identity()))
        .isEmpty();
  }

  @Test
  void verify_goldThatReturnsNothing_fails() throws Exception {
    List<Gold> golds = CodePrompts.mbpp();
    int judged = (golds.size() + EVERY - 1) / EVERY;
    assertThat(
            failures(
                CodeProfile.mbpp(), golds, code -> code.replaceAll("\\breturn\\b", "return None,")))
        .as("one of them has no word return, and another test of None")
        .hasSizeGreaterThan(judged * 95 / 100);
  }

  @Test
  void verify_bodyOfHumanEvalThatReturnsNothing_fails() throws Exception {
    List<Gold> golds = CodePrompts.humanEval();
    assertThat(failures(CodeProfile.humanEval(), golds, _ -> "    return None\n"))
        .hasSize((golds.size() + EVERY - 1) / EVERY);
  }

  private static Map<String, Verdict> failures(
      CodeProfile profile, List<Gold> golds, UnaryOperator<String> spoil) throws Exception {
    CodeVerifier verifier = new CodeVerifier(profile, sandbox);
    Map<String, Verdict> failures = new ConcurrentSkipListMap<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<Future<?>> judged = new ArrayList<>();
      for (int i = 0; i < golds.size(); i += EVERY) {
        Gold gold = golds.get(i);
        judged.add(
            threads.submit(
                () -> {
                  Verdict verdict = verifier.verify(gold.prompt(), spoil.apply(gold.solution()));
                  if (!(verdict instanceof Verdict.Scored scored && scored.passed())) {
                    failures.put(gold.toString(), verdict);
                  }
                }));
      }
      for (Future<?> one : judged) {
        one.get();
      }
    }
    return failures;
  }
}
