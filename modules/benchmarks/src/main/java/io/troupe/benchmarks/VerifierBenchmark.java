package io.troupe.benchmarks;

import static java.lang.Double.NaN;

import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.RoundsOption;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.code.CodeProfile;
import io.troupe.verifiers.code.CodeVerifier;
import io.troupe.verifiers.code.Sandbox;
import io.troupe.verifiers.code.SandboxSettings;
import io.troupe.verifiers.math.MathVerifier;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench verifiers}: completions judged per second of CPU time, and what the sandbox
 * adds to a program's own time.
 */
@Command(
    name = "verifiers",
    mixinStandardHelpOptions = true,
    description =
        "Measures how many completions the math verifier judges per second of CPU time, on"
            + " one thread, and how long the code verifier takes for a program that does nothing.",
    footer = {
      "",
      "Examples:",
      "  troupe bench verifiers --json result.json",
      "  troupe bench verifiers --only code"
    })
final class VerifierBenchmark implements Callable<Integer> {
  private static final double MATH_BAR = 2_000;
  private static final double CODE_BAR_MILLIS = 5;
  private static final int PROGRAMS = 200;

  /** The verifiers that can be measured. */
  enum Subject {
    math,
    code
  }

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SUBJECT",
      description = "What to measure: ${COMPLETION-CANDIDATES}; default all.")
  private List<Subject> only = List.of(Subject.values());

  @Option(
      names = "--seconds",
      description = "Processor time of a round of maths, default ${DEFAULT-VALUE}.")
  private int seconds = 2;

  @Mixin private final RoundsOption rounds = new RoundsOption(5);

  @Mixin private final ResultFile resultFile = new ResultFile();

  private record Pair(Prompt prompt, String completion) {}

  @Override
  public Integer call() throws IOException, SandboxUnavailableException {
    List<Measurement> results = new ArrayList<>();
    if (only.contains(Subject.math)) {
      results.add(math());
    }
    if (only.contains(Subject.code)) {
      results.add(code());
    }
    BenchmarkReport.print("%-42s %,12.2f %s  %s%n", results);
    return resultFile.end(results);
  }

  private Measurement math() throws IOException {
    double rate = rate(MathVerifier.training(), mathPairs());
    return new Measurement("math: MATH-500 answers", rate, "/s", NaN, MATH_BAR, true);
  }

  /**
   * The median over the rounds of the median time of a program that returns its argument, one after
   * the other on one warm worker. Such a program runs for microseconds, so all of it is overhead:
   * the exchange with the sandbox, and the processes of the next job, which the worker makes after
   * it has answered.
   */
  private Measurement code() throws SandboxUnavailableException {
    try (Sandbox sandbox = Sandbox.open(SandboxSettings.standard().withWorkers(1))) {
      Verifier verifier = new CodeVerifier(CodeProfile.mbpp(), sandbox);
      double[] medians = new double[rounds.value()];
      programs(verifier);
      for (int i = 0; i < rounds.value(); i++) {
        medians[i] = programs(verifier);
      }
      return new Measurement(
          "code: a program that does nothing",
          BenchmarkReport.median(medians),
          "ms",
          NaN,
          CODE_BAR_MILLIS,
          false);
    }
  }

  /** Median milliseconds of a program. */
  private static double programs(Verifier verifier) {
    Prompt prompt =
        new Prompt(new PromptId("code"), "code", "", "{\"tests\": [\"assert f(1) == 1\"]}", "");
    double[] millis = new double[PROGRAMS];
    for (int i = 0; i < PROGRAMS; i++) {
      long start = System.nanoTime();
      Verdict verdict = verifier.verify(prompt, "def f(x):\n    return x\n");
      millis[i] = (System.nanoTime() - start) / 1e6;
      if (!(verdict instanceof Verdict.Scored scored && scored.reward() == 1)) {
        throw new IllegalStateException("a right program was not passed: " + verdict);
      }
    }
    return BenchmarkReport.median(millis);
  }

  /**
   * Returns pairs of each answer and another form of it, and of each answer and the next problem's.
   */
  private static List<Pair> mathPairs() throws IOException {
    List<String> answers = answers();
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      String gold = answers.get(i);
      Prompt prompt = new Prompt(new PromptId("math" + i), "math", "", gold, "");
      String other = answers.get((i + 1) % answers.size());
      String rewritten = gold.replace("\\frac", "\\dfrac").replace("(", "\\left( ");
      for (String answer : List.of("x = " + gold, rewritten, other)) {
        pairs.add(
            new Pair(prompt, "It follows that the answer is\n\\[\\boxed{" + answer + "}.\\]"));
      }
    }
    return pairs;
  }

  private static List<String> answers() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            VerifierBenchmark.class.getResourceAsStream("math500-answers.txt"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  /** The median of the rounds' rates, after a round to warm up. */
  private double rate(Verifier verifier, List<Pair> pairs) {
    double[] rates = new double[rounds.value()];
    round(verifier, pairs);
    for (int i = 0; i < rounds.value(); i++) {
      rates[i] = round(verifier, pairs);
    }
    return BenchmarkReport.median(rates);
  }

  /** Judged per second of the thread's own CPU time, so that a busy machine matters less. */
  private double round(Verifier verifier, List<Pair> pairs) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = threads.getCurrentThreadCpuTime();
    long end = start + seconds * 1_000_000_000L;
    long judged = 0;
    while (threads.getCurrentThreadCpuTime() < end) {
      for (Pair pair : pairs) {
        Verdict verdict = verifier.verify(pair.prompt(), pair.completion());
        if (!(verdict instanceof Verdict.Scored)) {
          throw new IllegalStateException(pair + " was not judged: " + verdict);
        }
        judged++;
      }
    }
    return judged * 1e9 / (threads.getCurrentThreadCpuTime() - start);
  }
}
