package io.troupe.cli.eval;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.evaluation.AnswerSource;
import io.troupe.evaluation.EndpointAnswers;
import io.troupe.evaluation.EngineAnswers;
import io.troupe.evaluation.EvaluationFolder;
import io.troupe.evaluation.EvaluationJob;
import io.troupe.evaluation.EvaluationProtocol;
import io.troupe.evaluation.EvaluationTask;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.evaluation.EvaluationTasks;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe eval}: samples and judges prompts with a policy, and sums up. */
@Command(
    name = "eval",
    mixinStandardHelpOptions = true,
    description = {
      "Evaluates a policy on prompts: samples, judges, and writes completions.jsonl, results.jsonl"
          + " and summary.json into a folder. docs/evaluation.md describes all of it.",
      "WHAT is a run (its newest checkpoint, or RUN@v300), a folder of one of its checkpoints, or a"
          + " Hugging Face checkpoint. FILE lists tasks; without it and --task, a run's own"
          + " held-out rows are evaluated as the run does. With --endpoint, servers sample."
    },
    footer = {
      "",
      "^C ends an evaluation with everything kept; --resume continues it, also after a crash.",
      "",
      "Exit codes: 0 done · 2 bad usage or configuration · 4 failed, with everything kept ·"
          + " 130, 143 interrupted",
      "",
      "Examples:",
      "  troupe eval quickstart-20261121-140200 -o eval",
      "  troupe eval quickstart-20261121-140200@v300 conf/eval-quickstart.yaml -o eval",
      "  troupe eval models/Qwen3-0.6B --task gsm8k --samples 16 --k 1,4,16 -o eval",
      "  troupe eval --endpoint http://127.0.0.1:8000 conf/eval-math.yaml -o eval",
      "  troupe eval models/Qwen3-0.6B --task math --shard 2/4 -o eval/2",
      "  troupe eval merge eval/1 eval/2 eval/3 eval/4 -o eval/all"
    },
    subcommands = {EvalMergeCommand.class})
public final class EvalCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(
      arity = "0..2",
      paramLabel = "WHAT [FILE]",
      description = "What is evaluated, and a file of tasks.")
  private List<String> operands = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description = "Folder of this evaluation; a new one, unless --resume.")
  private @Nullable Path output;

  @Option(
      names = "--endpoint",
      paramLabel = "URL",
      description =
          "Server with OpenAI's interface that samples; may be given many times for servers of the"
              + " same policy.")
  private List<URI> endpoints = new ArrayList<>();

  @ArgGroup(exclusive = false, heading = "%nTasks and sampling:%n")
  private EvalOptions options = new EvalOptions();

  @ArgGroup(exclusive = false, heading = "%nWhere it computes:%n")
  private EvalCompute compute = new EvalCompute();

  @Option(names = "--resume", description = "Continues the evaluation that the folder holds.")
  private boolean resume;

  @Option(
      names = "--shard",
      paramLabel = "I/N",
      defaultValue = "1/1",
      description = "Evaluates the I-th of N parts of every task, I from 1 to N.")
  private String shard = "1/1";

  @Option(names = "--json", description = "Prints the summary's tasks as JSON instead of a table.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if (output == null) {
      throw bad("give -o DIR, the folder of the evaluation");
    }
    EvalOperands given = EvalOperands.of(operands, !endpoints.isEmpty());
    EvaluatedPolicy policy =
        new EvalTarget(compute.contextLength, compute.threads)
            .policy(given.what(), endpoints.isEmpty());
    ResolvedConfig<EvaluationFile> resolved = file(given.file(), policy);
    EvaluationFile file = options.over(resolved.config(), this::bad);
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    Signals.install(stop::complete, number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    if (!endpoints.isEmpty()) {
      String model = compute.model(endpoints.getFirst());
      try (EvaluationTasks tasks =
          new EvaluationTasks(policy, file, Optional.empty(), Integer.MAX_VALUE)) {
        Map<String, Object> description = new LinkedHashMap<>(policy.description());
        description.put("endpoints", endpoints.stream().map(URI::toString).toList());
        description.put("model", model);
        return evaluate(
            tasks,
            protocol(description, file, resolved, tasks.tasks()),
            new EndpointAnswers(endpoints, model, compute.key(), compute.requests),
            stop);
      }
    }
    try (PolicyEngines engines = policy.engines();
        EvaluationTasks tasks =
            new EvaluationTasks(
                policy, file, Optional.of(engines.tokenizer()), engines.contextLength())) {
      SamplingEngine engine = engines.newSampler();
      try (AnswerSource source = new EngineAnswers(engine, engines.tokenizer())) {
        engine.load(policy.weights().getFirst()).toCompletableFuture().join();
        return evaluate(
            tasks, protocol(policy.description(), file, resolved, tasks.tasks()), source, stop);
      }
    }
  }

  private ResolvedConfig<EvaluationFile> file(Optional<Path> file, EvaluatedPolicy policy) {
    if (file.isPresent()) {
      if (!options.tasks.isEmpty()) {
        throw bad("give FILE or --task, not both");
      }
      return EvaluationFile.load(file.get(), options.overrides);
    }
    if (options.tasks.isEmpty() && policy.run().isEmpty()) {
      throw bad("give FILE or --task: only a run has rows of its own");
    }
    return ConfigurationFile.bind(
        EvaluationFile.class,
        Path.of("command line"),
        options.tasks.isEmpty() ? EvalOptions.ownRows(policy) : options.named(),
        options.overrides);
  }

  private EvaluationProtocol protocol(
      Map<String, Object> policy,
      EvaluationFile file,
      ResolvedConfig<EvaluationFile> resolved,
      List<EvaluationTask> tasks) {
    SortedSet<Integer> ks = new TreeSet<>(file.k());
    int most = tasks.stream().mapToInt(EvaluationTask::samples).max().orElse(1);
    if (ks.isEmpty()) {
      ks.add(1);
      ks.add(most);
    }
    if (ks.last() > most) {
      throw bad("pass@%d needs at least as many samples, not %d".formatted(ks.last(), most));
    }
    Map<String, String> configuration = new LinkedHashMap<>();
    resolved.values().forEach(value -> configuration.put(value.path(), value.text()));
    return new EvaluationProtocol(
        BuildInfo.version(), policy, file.seed(), ks, shardRange(), configuration, tasks);
  }

  private ShardRange shardRange() {
    String[] parts = shard.split("/", -1);
    try {
      return new ShardRange(Integer.parseInt(parts[0]), Integer.parseInt(parts[parts.length - 1]));
    } catch (IllegalArgumentException wrong) {
      throw bad("--shard is I/N with I from 1 to N, such as 2/4, not %s".formatted(shard));
    }
  }

  private int evaluate(
      EvaluationTasks tasks,
      EvaluationProtocol protocol,
      AnswerSource source,
      CompletableFuture<Integer> stop)
      throws Exception {
    tasks.checkVerifiers();
    Path folder = Objects.requireNonNull(output);
    PrintWriter err = Objects.requireNonNull(spec).commandLine().getErr();
    EvalProgress progress = new EvalProgress(err);
    EvaluationJob job = new EvaluationJob(protocol, source, tasks::verifiers, stop, progress);
    boolean whole = job.run(folder, resume, Clock.systemUTC());
    progress.end();
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(new EvalTable(EvaluationFolder.view(folder)).text(json));
    out.flush();
    if (whole) {
      return ExitCode.OK.code();
    }
    err.println(
        "interrupted; all that was judged is in %s, and --resume continues".formatted(folder));
    err.flush();
    return ExitCode.ofSignal(stop.join());
  }

  private CommandLine.ParameterException bad(String message) {
    return new CommandLine.ParameterException(Objects.requireNonNull(spec).commandLine(), message);
  }

  /** The operands of the command line, told apart. */
  private record EvalOperands(Optional<String> what, Optional<Path> file) {
    /** With servers, WHAT may be missing; a file is a file. */
    static EvalOperands of(List<String> operands, boolean servers) throws IOException {
      if (operands.size() == 2) {
        return new EvalOperands(
            Optional.of(operands.getFirst()), Optional.of(Path.of(operands.getLast())));
      }
      if (operands.isEmpty()) {
        if (servers) {
          return new EvalOperands(Optional.empty(), Optional.empty());
        }
        throw new IOException("give WHAT to evaluate: a run, a checkpoint, or --endpoint URL");
      }
      Path only = Path.of(operands.getFirst());
      return servers && Files.isRegularFile(only)
          ? new EvalOperands(Optional.empty(), Optional.of(only))
          : new EvalOperands(Optional.of(operands.getFirst()), Optional.empty());
    }
  }
}
