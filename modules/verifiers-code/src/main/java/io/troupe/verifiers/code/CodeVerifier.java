package io.troupe.verifiers.code;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.code.SandboxResult.TestResult;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the program in a completion against the tests in the prompt's answer, a {@link CodeProblem}.
 *
 * <p>A program that exceeds its time or resources, ends itself, or tries what the sandbox denies
 * has reward 0. Only a broken problem or a failed sandbox makes a completion unverifiable.
 *
 * <p>Blocks while the program runs; see {@link CodeLimits#wall()}.
 *
 * @param profile extraction and reward of programs
 * @param sandbox isolation and limits of programs; closed with the verifier
 */
public record CodeVerifier(CodeProfile profile, Sandbox sandbox) implements Verifier {
  private static final int LONGEST_EXTRACT = 4_000;
  private static final String ENDED = "ended";

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    CodeProblem problem = CodeProblem.parse(prompt.answer());
    if (problem instanceof CodeProblem.Broken(String reason)) {
      return broken(prompt, reason);
    }
    CodeExtraction found = CodeExtraction.of(completion);
    if (found.code().isBlank()) {
      return new Verdict.Scored(0, "", "no code found");
    }
    String code = profile.firstBlockOnly() ? CodeExtraction.firstBlock(found.code()) : found.code();
    String extracted =
        code.length() <= LONGEST_EXTRACT ? code : code.substring(0, LONGEST_EXTRACT) + "…";
    return switch (problem) {
      case CodeProblem.Asserts asserts ->
          judge(prompt, extracted, new SandboxJob.AssertsJob(code, asserts));
      case CodeProblem.CheckFunction check -> {
        String program =
            new CodeExtraction(code, found.fenced()).continuing(check.prompt(), check.entryPoint());
        yield judge(prompt, extracted, new SandboxJob.CheckJob(program, check));
      }
      case CodeProblem.CallTests calls ->
          judge(prompt, extracted, new SandboxJob.CallsJob(code, calls));
      case CodeProblem.StdinTests(var runs) -> runAll(prompt, extracted, code, runs);
      case CodeProblem.Broken(String reason) -> broken(prompt, reason);
    };
  }

  @Override
  public void close() {
    sandbox.close();
  }

  private static Verdict broken(Prompt prompt, String reason) {
    return new Verdict.Unverifiable(
        Verdict.Cause.BAD_INPUT,
        "the tests of prompt %s are broken: %s".formatted(prompt.id(), reason));
  }

  private Verdict judge(Prompt prompt, String extracted, SandboxJob job) {
    return switch (sandbox.run(job)) {
      case SandboxResult.Judged(List<TestResult> tests, ProgramExit ending) ->
          scored(extracted, named(tests, ending));
      case SandboxResult.Ended(ProgramExit ending) ->
          new Verdict.Scored(0, extracted, ending.describe(sandbox.settings().limits()));
      case SandboxResult.BadProblem(String reason) -> broken(prompt, reason);
      case SandboxResult.Failed(String reason) ->
          new Verdict.Unverifiable(Verdict.Cause.CRASH, reason);
      case SandboxResult.Ran _ ->
          new Verdict.Unverifiable(Verdict.Cause.CRASH, "the sandbox ran another job");
    };
  }

  /** Names the cause of an exit: the judge only sees that the program ended; its parent saw how. */
  private List<TestResult> named(List<TestResult> tests, ProgramExit ending) {
    return tests.stream()
        .map(
            test ->
                test.reason().equals(ENDED)
                    ? new TestResult(false, ending.describe(sandbox.settings().limits()))
                    : test)
        .toList();
  }

  private Verdict runAll(
      Prompt prompt, String extracted, String code, List<CodeProblem.StdinTests.StdinCase> runs) {
    List<TestResult> results = new ArrayList<>();
    long end = System.nanoTime() + sandbox.settings().limits().wallOfAllRuns().toNanos();
    for (CodeProblem.StdinTests.StdinCase one : runs) {
      boolean stop = !profile.partialCredit() && results.stream().anyMatch(test -> !test.passed());
      if (stop || System.nanoTime() > end) {
        results.add(new TestResult(false, stop ? "not run" : "no time left for it"));
        continue;
      }
      switch (sandbox.run(new SandboxJob.RunJob(code, one.input()))) {
        case SandboxResult.Ran ran -> results.add(test(ran, one.output()));
        case SandboxResult.Ended(ProgramExit ending) ->
            results.add(new TestResult(false, ending.describe(sandbox.settings().limits())));
        case SandboxResult.Failed(String reason) -> {
          return new Verdict.Unverifiable(Verdict.Cause.CRASH, reason);
        }
        case SandboxResult.BadProblem(String reason) -> {
          return broken(prompt, reason);
        }
        case SandboxResult.Judged _ -> {
          return new Verdict.Unverifiable(Verdict.Cause.CRASH, "the sandbox ran another job");
        }
      }
    }
    return scored(extracted, results);
  }

  private TestResult test(SandboxResult.Ran ran, String wanted) {
    if (ran.flood()) {
      return new TestResult(
          false,
          "more than %d bytes of output".formatted(sandbox.settings().limits().outputBytes()));
    }
    if (!ran.ending().equals(new ProgramExit.Exited(0))) {
      String how =
          ran.raised().isEmpty()
              ? ran.ending().describe(sandbox.settings().limits())
              : ran.raised();
      return new TestResult(false, how);
    }
    boolean right = profile.comparison().agree(ran.output(), wanted);
    return new TestResult(right, right ? "" : "another output");
  }

  private Verdict scored(String extracted, List<TestResult> tests) {
    List<Check> checks = new ArrayList<>();
    int passed = 0;
    String failure = "";
    for (int i = 0; i < tests.size(); i++) {
      TestResult test = tests.get(i);
      checks.add(new Check("test " + (i + 1), test.passed()));
      passed += test.passed() ? 1 : 0;
      if (!test.passed() && failure.isEmpty()) {
        failure = "; test %d: %s".formatted(i + 1, test.reason());
      }
    }
    double share = (double) passed / tests.size();
    double reward = profile.partialCredit() ? share : passed == tests.size() ? 1 : 0;
    String reason = "%d of %d tests passed%s".formatted(passed, tests.size(), failure);
    return new Verdict.Scored(reward, extracted, reason, checks);
  }
}
