package io.troupe.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.Measurement;
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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code troupe bench evaluation}: what an evaluation costs beside the sampling in it. Both are
 * made in turn by one engine of one process, so that the ratio of a round holds while the machine's
 * speed changes.
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

  @Option(
      names = "--prompts",
      defaultValue = "500",
      description = "Held-out prompts, default ${DEFAULT-VALUE}.")
  private int prompts = 500;

  @Option(
      names = "--rounds",
      defaultValue = "15",
      description =
          "Rounds after as many that warm up: of CPU time, which the system counts in steps of"
              + " 10 ms, the sum counts, and of wall time the median; default ${DEFAULT-VALUE}.")
  private int rounds = 15;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results there.")
  private @Nullable Path json;

  /** Seconds of one round's half. */
  private record Spent(double cpu, double wall) {}

  /** Work that is measured. */
  @FunctionalInterface
  private interface Work {
    void run() throws IOException;
  }

  @Override
  public Integer call() throws IOException {
    EvaluatedPolicy policy =
        EvaluatedPolicy.ofRun(RunFolder.view(Path.of("runs"), run), OptionalLong.empty(), true);
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
      return BenchmarkReport.end(json, results);
    } finally {
      FileTree.delete(folder);
    }
  }

  /** One evaluation into a new folder. */
  @FunctionalInterface
  private interface NumberedWork {
    void run(int number) throws IOException;
  }

  private List<Measurement> measured(Work sampling, NumberedWork evaluation) throws IOException {
    double[] samplingCpu = new double[rounds];
    double[] evaluationCpu = new double[rounds];
    double[] wallRatio = new double[rounds];
    for (int round = -rounds; round < rounds; round++) {
      int number = round + rounds;
      Spent sampled = spent(sampling);
      Spent evaluated = spent(() -> evaluation.run(number));
      if (round >= 0) {
        samplingCpu[round] = 1e3 * sampled.cpu();
        evaluationCpu[round] = 1e3 * evaluated.cpu();
        wallRatio[round] = evaluated.wall() / sampled.wall();
      }
    }
    return List.of(
        information("sampling alone, CPU time", samplingCpu, "ms"),
        information("evaluation, CPU time", evaluationCpu, "ms"),
        new Measurement(
            "evaluation over sampling, CPU time",
            Arrays.stream(evaluationCpu).sum() / Arrays.stream(samplingCpu).sum(),
            "",
            Double.NaN,
            BAR,
            false),
        information("evaluation over sampling, wall time", wallRatio, ""));
  }

  private static Measurement information(String name, double[] values, String unit) {
    return new Measurement(
        name, BenchmarkReport.median(values), unit, Double.NaN, Double.NaN, false);
  }

  private static Spent spent(Work work) throws IOException {
    OperatingSystemMXBean process =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    long cpu = process.getProcessCpuTime();
    long wall = System.nanoTime();
    work.run();
    return new Spent((process.getProcessCpuTime() - cpu) / 1e9, (System.nanoTime() - wall) / 1e9);
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
