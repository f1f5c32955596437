package io.troupe.cli.eval;

import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.node.ClusterClientOptions;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.evaluation.EvaluationFolder;
import io.troupe.run.evaluation.EvaluatedPolicy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe eval}: samples and judges prompts with a policy, and sums up. */
@Command(
    name = "eval",
    description = {
      "Evaluates a policy on prompts: samples, judges, and writes completions.jsonl, results.jsonl"
          + " and summary.json into a folder. docs/evaluation.md describes all of it.",
      "WHAT is a run (its newest checkpoint, or RUN@v300), a folder of one of its checkpoints, or a"
          + " Hugging Face checkpoint: a folder, a name on the hub, or s3://bucket/prefix. FILE"
          + " lists tasks; without it and --task, a run's own held-out rows are evaluated as the"
          + " run does. With --endpoint, servers sample; with --cluster, the rollout workers of the"
          + " cluster that works for the run."
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
      "  troupe eval Qwen/Qwen3-0.6B --task gsm8k --samples 16 --k 1,4,16 -o eval",
      "  troupe eval --endpoint http://127.0.0.1:8000 conf/eval-math.yaml -o eval",
      "  troupe eval gsm8k-20261121-140200@v300 --cluster 127.0.0.1:7400 --samples 16 -o eval",
      "  troupe eval models/Qwen3-0.6B --task math --shard 2/4 -o eval/2",
      "  troupe eval merge eval/1 eval/2 eval/3 eval/4 -o eval/all"
    },
    subcommands = {EvalMergeCommand.class, EvalCompareCommand.class, EvalWatchCommand.class})
public final class EvalCommand extends CliCommand {
  private static final Pattern SHARD = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

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

  @Mixin private ClusterClientOptions cluster = new ClusterClientOptions();

  @Option(names = "--resume", description = "Continues the evaluation that the folder holds.")
  private boolean resume;

  @Option(
      names = "--shard",
      paramLabel = "I/N",
      description = "Evaluates the I-th of N parts of every task, I from 1 to N.")
  private String shard = "1/1";

  @Option(names = "--json", description = "Prints the summary's tasks as JSON instead of a table.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if (output == null) {
      throw bad("give -o DIR, the folder of the evaluation");
    }
    if (operands.isEmpty() && endpoints.isEmpty()) {
      throw bad("give WHAT to evaluate: a run, a checkpoint, or --endpoint URL");
    }
    if (!endpoints.isEmpty() && !cluster.members().isEmpty()) {
      throw bad("give --endpoint or --cluster, not both");
    }
    EvalOperands given = EvalOperands.of(operands, !endpoints.isEmpty());
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    Signals.install(stop::complete, number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    CommandLine command = commandLine();
    EvalSession session =
        new EvalSession(command, options, compute, endpoints, cluster, given.file(), stop);
    EvaluatedPolicy policy = session.target().policy(given.what(), session.samplesHere());
    boolean whole = session.run(policy, output, resume, shardRange());
    command.getOut().print(new EvalTable(EvaluationFolder.view(output)).text(json));
    command.getOut().flush();
    if (whole) {
      return ExitCode.OK.code();
    }
    command
        .getErr()
        .println(
            "interrupted; all that was judged is in %s, and --resume continues".formatted(output));
    return ExitCode.ofSignal(stop.join());
  }

  private ShardRange shardRange() {
    Matcher parts = SHARD.matcher(shard);
    try {
      if (parts.matches()) {
        return new ShardRange(Integer.parseInt(parts.group(1)), Integer.parseInt(parts.group(2)));
      }
    } catch (IllegalArgumentException outside) {
      // as one that is no such pair
    }
    throw bad("--shard is I/N with I from 1 to N, such as 2/4, not %s".formatted(shard));
  }

  private CommandLine.ParameterException bad(String message) {
    return refused(message);
  }

  /** The operands of the command line, apart. */
  private record EvalOperands(Optional<String> what, Optional<Path> file) {
    /** With servers, WHAT may be missing: a regular file is FILE. */
    static EvalOperands of(List<String> operands, boolean servers) {
      Optional<String> first = operands.stream().findFirst();
      boolean fileOnly =
          servers && operands.size() == 1 && Files.isRegularFile(Path.of(first.orElseThrow()));
      return fileOnly
          ? new EvalOperands(Optional.empty(), first.map(Path::of))
          : new EvalOperands(first, operands.stream().skip(1).findFirst().map(Path::of));
    }
  }
}
