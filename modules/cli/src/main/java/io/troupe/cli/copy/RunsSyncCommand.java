package io.troupe.cli.copy;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.config.RunConfig;
import io.troupe.config.SyncKeys;
import io.troupe.run.session.JsonText;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import io.troupe.sync.CopyAccess;
import io.troupe.sync.CopyStatus;
import io.troupe.sync.RunSync;
import io.troupe.sync.SyncProgress;
import io.troupe.sync.SyncSettings;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe runs sync}: brings the copy of a run on S3 up to date. */
@Command(
    name = "sync",
    description = {
      "Sends what a run's copy on S3 lacks, and waits until everything is stored: after a crash, or"
          + " of a run that was not copied while it was at work.",
      "Not while the run itself is copying."
    },
    footer = {
      "",
      "Exit codes: 0 everything is stored · 2 no such run, no place, or it refuses · 4 it is not,"
          + " and why"
    })
final class RunsSyncCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  /** The time in which the store must say whether it takes the copy. */
  private static final Duration ACCESS_TIMEOUT = Duration.ofSeconds(10);

  @Option(
      names = "--to",
      paramLabel = "PLACE",
      description = "s3://bucket/prefix; otherwise the run's run.sync.")
  private String to = "";

  @Option(
      names = "--take-over",
      description = "Also if another run folder has written the copy: that one stores no more.")
  private boolean takeOver;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long to try (default: ${DEFAULT-VALUE}).")
  private long timeout = 3600;

  @Option(names = "--dry-run", description = "Only say what the copy lacks.")
  private boolean dryRun;

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  @Mixin private CopyOptions s3 = new CopyOptions();

  @Override
  public Integer call() throws IOException, InterruptedException {
    CommandLine command = commandLine();
    RunFolder folder = run.open();
    SyncKeys keys = RunConfig.load(folder.resolved(), List.of()).config().run().sync();
    String place = to.isEmpty() ? keys.sync() : to;
    if (place.isEmpty()) {
      throw refused("%s has no run.sync; give --to s3://bucket/prefix".formatted(folder));
    }
    String target = CopyOptions.folder(place) + folder.name() + "/";
    if (dryRun) {
      CopyStatus status = CopyStatus.of(folder, target);
      return answer(command.getOut(), target, status.objects(), status.bytes(), "");
    }
    S3Settings settings = to.isEmpty() ? keys.settings() : s3.settings();
    if (CopyAccess.ask(() -> new S3Bucket(settings, target), target, ACCESS_TIMEOUT)
        instanceof CopyAccess.Refused(String reason)) {
      throw refused(reason);
    }
    Duration limit = Duration.ofSeconds(timeout);
    RunSync sync =
        RunSync.start(
            folder,
            new S3Bucket(settings, target),
            target,
            new SyncSettings(keys.syncEvery(), keys.bytesPerSecond(), limit),
            takeOver,
            progress -> say(command.getErr(), progress));
    sync.close();
    SyncProgress end = sync.progress();
    answer(command.getOut(), target, end.objects(), end.bytes(), end.problem());
    return (end.complete() ? ExitCode.OK : ExitCode.FAILED).code();
  }

  private static void say(PrintWriter err, SyncProgress progress) {
    err.println(
        "%d files or checkpoints, %,d bytes to go%s"
            .formatted(
                progress.objects(),
                progress.bytes(),
                progress.problem().isEmpty() ? "" : " · " + progress.problem()));
    err.flush();
  }

  private int answer(PrintWriter out, String target, int objects, long bytes, String problem) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("copy", target);
    answer.put("lacks", objects);
    answer.put("lacks_bytes", bytes);
    answer.put("problem", problem);
    out.println(
        json
            ? new JsonText().line(answer)
            : "%s %s"
                .formatted(
                    target,
                    objects == 0 && problem.isEmpty()
                        ? "is complete"
                        : "lacks %d files or checkpoints, %,d bytes%s"
                            .formatted(objects, bytes, problem.isEmpty() ? "" : ": " + problem)));
    out.flush();
    return ExitCode.OK.code();
  }
}
