package io.troupe.cli.copy;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.run.session.JsonText;
import io.troupe.store.objects.ObjectStore;
import io.troupe.sync.RunDownload;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe runs download}: makes a run folder from its copy on S3. */
@Command(
    name = "download",
    description = {
      "Makes a run folder from its copy on S3 and verifies every byte. An interrupted download"
          + " continues.",
      "Downloading does not stop the run's own host from copying; resuming the downloaded run"
          + " does."
    })
final class RunsDownloadCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "PLACE", description = "s3://bucket/prefix/RUN")
  private String place = "";

  @Option(
      names = "--into",
      paramLabel = "FOLDER",
      description = "Gets the run folder (default: ${DEFAULT-VALUE}).")
  private Path into = Path.of("runs");

  @Option(
      names = "--checkpoints",
      paramLabel = "WHICH",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "newest")
  private RunDownload.Checkpoints checkpoints = RunDownload.Checkpoints.NEWEST;

  @Option(names = "--dry-run", description = "Only say what is there.")
  private boolean dryRun;

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  @Mixin private CopyOptions s3 = new CopyOptions();

  @Override
  public Integer call() throws IOException {
    CommandLine command = commandLine();
    PrintWriter out = command.getOut();
    String target = CopyOptions.folder(place);
    try (ObjectStore store = s3.open(target)) {
      RunDownload download = new RunDownload(store, target, command.getErr()::println);
      Map<String, Object> answer = new LinkedHashMap<>();
      RunDownload.Summary there =
          download.summary().orElseThrow(() -> new IOException(target + " holds no copy of a run"));
      answer.put("run", there.run());
      answer.put("checkpoint", there.step());
      answer.put("files", there.files());
      answer.put("bytes", there.bytes());
      if (!dryRun) {
        answer.put("folder", download.into(into, checkpoints).toString());
      }
      out.println(json ? new JsonText().line(answer) : text(answer));
    }
    out.flush();
    return ExitCode.OK.code();
  }

  private static String text(Map<String, Object> answer) {
    return "%s: %s files, newest checkpoint step%s, %s bytes%s"
        .formatted(
            answer.get("run"),
            answer.get("files"),
            answer.get("checkpoint"),
            answer.get("bytes"),
            answer.containsKey("folder") ? "; now in " + answer.get("folder") : "");
  }
}
