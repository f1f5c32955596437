package io.troupe.cli.track;

import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ParentWatch;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.run.session.JsonText;
import io.troupe.store.folder.RunFolder;
import io.troupe.tracking.RunTracking;
import io.troupe.tracking.TrackerKind;
import io.troupe.tracking.TrackerStatus;
import io.troupe.tracking.TrackingSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe track}: sends a run to trackers, after it or while it continues. */
@Command(
    name = "track",
    description = {
      "Sends a run to the trackers of its configuration: what they lack of it, from where they"
          + " stopped. May be repeated; nothing is sent twice.",
      "A run with tracking: [...] does this itself while it continues."
    },
    footer = {
      "",
      "Examples:",
      "  troupe track quickstart-20261121-140200",
      "  troupe track quickstart-20261121-140200 --to tensorboard,wandb --follow",
      "  troupe track quickstart-20261121-140200 --to mlflow --set"
          + " trackers.mlflow_url=http://127.0.0.1:5000",
      "  troupe track quickstart-20261121-140200 --dry-run   what each tracker lacks",
      "",
      "Exit codes: 0 everything is sent · 2 no tracker, or bad usage · 4 it is not, and why"
    })
public final class TrackCommand extends CliCommand {
  private static final Duration LOOK = Duration.ofSeconds(1);

  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = "--to",
      split = ",",
      paramLabel = "TRACKER",
      description = "${COMPLETION-CANDIDATES}; otherwise the run's tracking.")
  private List<TrackerKind> to = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Overrides a key of the run's configuration; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  @Option(names = "--follow", description = "Until the run ends.")
  private boolean follow;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long to try once the run has ended (default: ${DEFAULT-VALUE}).")
  private long timeout = 600;

  @Option(names = "--dry-run", description = "Only say what the trackers lack.")
  private boolean dryRun;

  @Option(names = "--json", description = "One JSON object a tracker.")
  private boolean json;

  @Option(names = "--child", hidden = true, description = "As the run's own process.")
  private boolean child;

  @Override
  public Integer call() throws IOException, InterruptedException {
    CommandLine command = commandLine();
    CountDownLatch ended = new CountDownLatch(1);
    if (child) {
      ParentWatch.start(ended::countDown);
    }
    RunFolder folder = run.open();
    ResolvedConfig<RunConfig> resolved = RunConfig.load(folder.resolved(), overrides);
    RunConfig config = resolved.config();
    List<TrackerKind> trackers = to.isEmpty() ? config.tracking() : to;
    if (trackers.isEmpty()) {
      throw refused(
          "%s has no tracking; give --to, such as --to tensorboard,wandb".formatted(folder));
    }
    if (trackers.contains(TrackerKind.MLFLOW) && config.trackers().mlflowUrl().isEmpty()) {
      throw refused("mlflow needs --set trackers.mlflow_url=http://HOST:PORT");
    }
    TrackingSettings settings = config.trackers().settings(trackers);
    Map<String, String> parameters = new LinkedHashMap<>();
    resolved.values().forEach(value -> parameters.put(value.path(), value.text()));
    if (dryRun) {
      return answer(command.getOut(), RunTracking.statuses(folder, settings, parameters));
    }
    return track(command, folder, settings, parameters, ended);
  }

  private int track(
      CommandLine command,
      RunFolder folder,
      TrackingSettings settings,
      Map<String, String> parameters,
      CountDownLatch ended)
      throws IOException, InterruptedException {
    Optional<RunTracking> tracking =
        RunTracking.start(
            folder, settings, parameters, System.getenv(), follow || child, this::say);
    if (tracking.isEmpty()) {
      throw new IOException(
          "another process sends %s to its trackers; wait until it ends".formatted(folder));
    }
    try (RunTracking open = tracking.get()) {
      while ((follow || child)
          && !(follow && open.ended())
          && !ended.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
        // The trackers work.
      }
      open.finish(child ? settings.atEnd() : Duration.ofSeconds(timeout));
      if (!open.journalProblem().isEmpty()) {
        say("times of steps are not exact: " + open.journalProblem());
      }
      answer(command.getOut(), open.status());
      boolean complete = open.status().stream().allMatch(TrackerStatus::complete);
      return (complete ? ExitCode.OK : ExitCode.FAILED).code();
    }
  }

  private void say(String sentence) {
    PrintWriter err = err();
    err.printf("%s %s%n", Instant.now().truncatedTo(ChronoUnit.SECONDS), sentence);
    err.flush();
  }

  private int answer(PrintWriter out, List<TrackerStatus> statuses) {
    for (TrackerStatus one : statuses) {
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("tracker", one.tracker().label());
      answer.put("step", one.step());
      answer.put("remote", one.remote());
      answer.put("complete", one.complete());
      answer.put("problem", one.problem());
      out.println(
          json
              ? new JsonText().line(answer)
              : "%-11s %s%s%s"
                  .formatted(
                      one.tracker().label(),
                      one.complete() ? "has the run" : "lacks part of the run",
                      one.step() < 0 ? "" : ", steps up to %d".formatted(one.step()),
                      one.problem().isEmpty() ? "" : ": " + one.problem()));
    }
    out.flush();
    return ExitCode.OK.code();
  }
}
