package io.troupe.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.chat.Thinking;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.core.evaluation.PromptSeed;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.evaluation.AnswerSource;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.evaluation.EvaluationJob;
import io.troupe.evaluation.EvaluationProtocol;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.evaluation.EvaluationTasks;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code troupe bench evaluation}: what an evaluation costs beside the sampling in it. A round
 * samples, evaluates and samples again, by one engine of one process, so that its ratios hold while
 * the machine's speed changes; the ratio of the two samplings is the noise of the other. The time
 * that counts is of Java's threads, among them the sampler: the JVM compiles for minutes what only
 * one of the two runs.
 */
@Command(
    name = "evaluation",
    mixinStandardHelpOptions = true,
    description =
        "Evaluates the held-out rows of a run, greedily, and samples the same prompts without"
            + " judging and writing, in turn, and compares CPU time and wall time.",
    footer = {"", "Example:", "  troupe bench evaluation quickstart-20261121-140200"})
final class EvaluationBenchmark implements Callable<Integer> {
  private static final double BAR = 1.1;

  @Parameters(paramLabel = "RUN", description = "Name or folder of a run.")
  private String run = "";

  @Option(names = "--prompts", description = "Held-out prompts, default ${DEFAULT-VALUE}.")
  private int prompts = 500;

  @Option(
      names = "--rounds",
      description =
          "Rounds that count: of CPU time the sum, and of wall time the median; default"
              + " ${DEFAULT-VALUE}.")
  private int rounds = 30;

  @Option(
      names = "--warm-up",
      paramLabel = "ROUNDS",
      description =
          "Rounds before them, for the JVM to compile most of both; default ${DEFAULT-VALUE}.")
  private int warmUp = 60;

  @Mixin private final ResultFile resultFile = new ResultFile();

  /**
   * Seconds of a part of a round.
   *
   * @param cpu of Java's threads
   * @param process of the whole process, with the compiler and the collector of the JVM
   */
  private record Spent(double cpu, double process, double wall) {
    static final Spent NONE = new Spent(0, 0, 0);

    Spent plus(Spent more) {
      return new Spent(cpu + more.cpu, process + more.process, wall + more.wall);
    }
  }

  /** Work that is measured. */
  @FunctionalInterface
  private interface Work {
    void run() throws IOException;
  }

  @Override
  public Integer call() throws IOException {
    EvaluatedPolicy policy =
        EvaluatedPolicy.ofRun(
            RunFolder.view(Path.of("runs"), run), OptionalLong.empty(), true, Thinking.AUTO);
    EvaluationFile file =
        ConfigurationFile.bind(
                EvaluationFile.class,
                Path.of("benchmark"),
                "tasks: [{name: held_out, prompts: %d}]".formatted(prompts),
                List.of())
            .config();
    Path folder = Files.createTempDirectory("troupe-evaluation");
    try (PolicyEngines engines = policy.engines();
        EvaluationTasks tasks =
            new EvaluationTasks(
                policy, file, Optional.of(engines.tokenizer()), engines.contextLength());
        SamplingEngine engine = engines.newSampler();
        AnswerSource source = policy.answers(engine, engines, tasks)) {
      engine.load(policy.weights().getFirst()).toCompletableFuture().join();
      EvaluationTask task = tasks.tasks().getFirst();
      List<SampleRequest> requests = requests(task, engines, file.seed());
      EvaluationProtocol protocol = protocol(policy, file, task);
      List<Measurement> results =
          measured(
              () -> sample(engine, requests),
              number -> evaluate(protocol, source, tasks, folder.resolve("e" + number)));
      BenchmarkReport.print("%-44s %,10.2f %s  %s%n", results);
      return resultFile.end(results);
    } finally {
      FileTree.delete(folder);
    }
  }

  /** Runs one evaluation into a new folder. */
  @FunctionalInterface
  private interface NumberedWork {
    void run(int number) throws IOException;
  }

  private List<Measurement> measured(Work sampling, NumberedWork evaluation) throws IOException {
    Spent first = Spent.NONE;
    Spent evaluated = Spent.NONE;
    Spent second = Spent.NONE;
    double[] wallRatio = new double[rounds];
    for (int number = 0; number < warmUp + rounds; number++) {
      int folder = number;
      Spent before = spent(sampling);
      Spent between = spent(() -> evaluation.run(folder));
      Spent after = spent(sampling);
      int round = number - warmUp;
      if (round >= 0) {
        first = first.plus(before);
        evaluated = evaluated.plus(between);
        second = second.plus(after);
        wallRatio[round] = 2 * between.wall() / (before.wall() + after.wall());
      }
    }
    Spent sampled = first.plus(second);
    return List.of(
        information(
            "sampling alone, CPU time of Java's threads", 500 * sampled.cpu() / rounds, "ms"),
        information("evaluation, CPU time of Java's threads", 1e3 * evaluated.cpu() / rounds, "ms"),
        information("second sampling over the first", second.cpu() / first.cpu(), ""),
        new Measurement(
            "evaluation over sampling",
            2 * evaluated.cpu() / sampled.cpu(),
            "",
            Double.NaN,
            BAR,
            false),
        information(
            "evaluation over sampling, whole process",
            2 * evaluated.process() / sampled.process(),
            ""),
        information("evaluation over sampling, wall time", BenchmarkReport.median(wallRatio), ""));
  }

  private static Measurement information(String name, double value, String unit) {
    return new Measurement(name, value, unit, Double.NaN, Double.NaN, false);
  }

  private static Spent spent(Work work) throws IOException {
    OperatingSystemMXBean process =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    long threads = threadNanos();
    long cpu = process.getProcessCpuTime();
    long wall = System.nanoTime();
    work.run();
    return new Spent(
        (threadNanos() - threads) / 1e9,
        (process.getProcessCpuTime() - cpu) / 1e9,
        (System.nanoTime() - wall) / 1e9);
  }

  /** The CPU time of all Java threads there are; the engine's and the verifiers' stay. */
  private static long threadNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Arrays.stream(threads.getAllThreadIds())
        .map(threads::getThreadCpuTime)
        .filter(nanos -> nanos > 0)
        .sum();
  }

  private static List<SampleRequest> requests(
      EvaluationTask task, PolicyEngines engines, long seed) {
    List<EvaluationItem> items = task.items();
    return IntStream.range(0, items.size())
        .mapToObj(
            i -> {
              Prompt prompt = items.get(i).prompt();
              return new SampleRequest(
                  new LeaseId(new GroupId(i + 1L), 1),
                  engines.tokenizer().encodeWithSpecial(prompt.text()),
                  1,
                  items.get(i).sampling(),
                  PromptSeed.of(seed, prompt.id().value()));
            })
        .toList();
  }

  private static void sample(SamplingEngine engine, List<SampleRequest> requests) {
    List<CompletableFuture<?>> sampled = new ArrayList<>();
    engine.sample(requests).forEach(stage -> sampled.add(stage.toCompletableFuture()));
    CompletableFuture.allOf(sampled.toArray(CompletableFuture[]::new)).join();
  }

  private static EvaluationProtocol protocol(
      EvaluatedPolicy policy, EvaluationFile file, EvaluationTask task) {
    SortedSet<Integer> ks = new TreeSet<>(List.of(1));
    return new EvaluationProtocol(
        BuildInfo.version(),
        policy.description(),
        file.seed(),
        ks,
        ShardRange.WHOLE,
        Map.of(),
        List.of(task));
  }

  private static void evaluate(
      EvaluationProtocol protocol, AnswerSource source, EvaluationTasks tasks, Path folder)
      throws IOException {
    boolean whole =
        new EvaluationJob(
                protocol, source, tasks::verifiers, new CompletableFuture<>(), (_, _, _, _) -> {})
            .run(folder, false, Clock.systemUTC());
    if (!whole) {
      throw new IOException("the evaluation in %s was not made whole".formatted(folder));
    }
  }
}
