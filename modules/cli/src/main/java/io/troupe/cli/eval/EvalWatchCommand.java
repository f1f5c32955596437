package io.troupe.cli.eval;

import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ParentWatch;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.node.ClusterClientOptions;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.core.evaluation.ShardRange;
import io.troupe.evaluation.WatchResults;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe eval watch}: evaluates the checkpoints of a run as they come. */
@Command(
    name = "watch",
    description = {
      "Evaluates each whole checkpoint of a run once, in the order of steps, into DIR/v<step>, and"
          + " makes DIR/results.csv and DIR/curve.svg again after each.",
      "It may run on another host or GPU than the run (CUDA_VISIBLE_DEVICES), as long as it sees"
          + " the run's folder. Started again, it continues where it was."
    },
    footer = {
      "",
      "Example:",
      "  troupe eval watch quickstart-20261121-140200 --every 100 -o watch",
      "",
      "^C or SIGTERM ends it."
    })
final class EvalWatchCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "RUN", description = "Name or folder of the run.")
  private @Nullable String run;

  @Parameters(index = "1", arity = "0..1", paramLabel = "FILE", description = "File of tasks.")
  private @Nullable Path file;

  @Option(
      names = "--every",
      paramLabel = "N",
      description = "Only checkpoints whose step is a multiple of N (default: ${DEFAULT-VALUE}).")
  private long every = 1;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      required = true,
      description = "Folder of all evaluations of this watch.")
  private @Nullable Path output;

  @Option(names = "--once", description = "Ends after the checkpoints that are there now.")
  private boolean once;

  @Option(
      names = "--look-every",
      paramLabel = "SECONDS",
      description = "Seconds between looks for new checkpoints (default: ${DEFAULT-VALUE}).")
  private int lookEvery = 10;

  @Option(
      names = "--with-parent",
      hidden = true,
      description = "End with the process that holds the other end of standard input.")
  private boolean withParent;

  @ArgGroup(exclusive = false, heading = "%nTasks and sampling:%n")
  private EvalOptions options = new EvalOptions();

  @Override
  public Integer call()
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    CommandLine command = commandLine();
    if (every < 1 || lookEvery < 1) {
      throw refused("--every and --look-every are 1 or greater");
    }
    RunFolder folder = EvalTarget.run(Objects.requireNonNull(run));
    Path target = Objects.requireNonNull(output);
    Files.createDirectories(target);
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    Signals.install(stop::complete, number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    CompletableFuture<Void> drained = new CompletableFuture<>();
    if (once) {
      drained.complete(null);
    }
    if (withParent) {
      ParentWatch.start(() -> drained.complete(null));
    }
    EvalSession session =
        new EvalSession(
            command,
            options,
            EvalCompute.ofThisProcess(),
            List.of(),
            new ClusterClientOptions(),
            Optional.ofNullable(file),
            stop);
    WatchResults results = new WatchResults(target);
    results.regenerate();
    Set<Long> gone = new HashSet<>();
    while (!stop.isDone()) {
      boolean last = drained.isDone(); // Before the look, so that none is missed.
      Optional<Checkpoint> next = next(folder, results, gone);
      if (next.isPresent()) {
        evaluate(next.get(), folder, session, results, gone);
      } else if (last) {
        return ExitCode.OK.code();
      } else {
        await(CompletableFuture.anyOf(stop, drained));
      }
    }
    return ExitCode.ofSignal(stop.join());
  }

  /** The earliest checkpoint that is not evaluated. */
  private Optional<Checkpoint> next(RunFolder folder, WatchResults results, Set<Long> gone)
      throws IOException {
    return Checkpoints.view(folder.checkpoints()).list().whole().stream()
        .filter(each -> each.step() % every == 0)
        .filter(each -> !gone.contains(each.step()) && !results.holds(each.step()))
        .min(Comparator.comparingLong(Checkpoint::step));
  }

  private void evaluate(
      Checkpoint checkpoint,
      RunFolder folder,
      EvalSession session,
      WatchResults results,
      Set<Long> gone)
      throws IOException, InterruptedException, InvalidVerifierException, ClusterJoinException {
    CommandLine command = session.command();
    EvaluatedPolicy policy;
    try {
      policy = session.target().ofRun(folder, OptionalLong.of(checkpoint.step()), true);
    } catch (IOException unreadable) {
      if (Files.isDirectory(checkpoint.directory())) {
        throw unreadable;
      }
      gone.add(checkpoint.step());
      command
          .getErr()
          .println(
              "v%d was deleted before it was read; raise checkpoint.keep of the run to have all evaluated"
                  .formatted(checkpoint.step()));
      return;
    }
    command.getErr().println("v" + checkpoint.step());
    if (session.run(policy, results.of(checkpoint.step()), true, ShardRange.WHOLE)) {
      results.regenerate();
    }
  }

  private void await(CompletableFuture<?> event) throws InterruptedException {
    try {
      event.get(lookEvery, TimeUnit.SECONDS);
    } catch (TimeoutException look) {
      // time to look for new checkpoints
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
