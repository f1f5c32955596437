package io.troupe.cli.copy;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.run.session.JsonText;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.s3.S3Address;
import io.troupe.sync.CopyStatus;
import io.troupe.sync.RunDownload;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe runs list}: runs of a folder with what their copies lack, or runs on S3. */
@Command(
    name = "list",
    description = {
      "Lists the runs in a folder, newest first: the newest checkpoint, and what a copy on S3"
          + " lacks of the folder. Or lists the copies below a place on S3.",
      "Changes nothing; the runs may be under way."
    })
final class RunsListCommand extends CliCommand {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "PLACE",
      description = "Folder of runs, or s3://bucket/prefix (default: ${DEFAULT-VALUE}).")
  private String place = "runs";

  @Option(names = "--json", description = "One JSON object a run.")
  private boolean json;

  private int printed;

  @Mixin private CopyOptions s3 = new CopyOptions();

  @Override
  public Integer call() throws IOException {
    PrintWriter out = out();
    if (S3Address.isOne(place)) {
      listCopies(out);
    } else {
      for (String name : RunFolder.list(Path.of(place))) {
        listLocal(out, Path.of(place), name);
      }
    }
    out.flush();
    if (printed == 0) {
      err().println("no run in " + place);
      err().flush();
    }
    return ExitCode.OK.code();
  }

  /** A run that cannot be read, such as one of another version, does not hide the others. */
  private void listLocal(PrintWriter out, Path root, String name) {
    try {
      print(out, local(RunFolder.view(root, name)));
    } catch (IOException unreadable) {
      if (Files.exists(root.resolve(name))) { // Else it was deleted since it was listed.
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("run", name);
        row.put("problem", String.valueOf(unreadable.getMessage()));
        print(out, row);
      }
    }
  }

  private void listCopies(PrintWriter out) throws IOException {
    String folder = CopyOptions.folder(place);
    try (ObjectStore store = s3.open(folder)) {
      for (String name : store.folders("")) {
        String target = folder + name + "/";
        try (ObjectStore copy = s3.open(target)) {
          Optional<RunDownload.Summary> there = new RunDownload(copy, target, _ -> {}).summary();
          if (there.isPresent()) {
            print(out, remote(there.get()));
          }
        }
      }
    }
  }

  private static Map<String, Object> remote(RunDownload.Summary copy) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("run", copy.run());
    row.put("checkpoint", copy.step());
    row.put("checkpoints", copy.checkpoints());
    row.put("bytes", copy.bytes());
    return row;
  }

  private static Map<String, Object> local(RunFolder run) throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("run", run.name());
    row.put(
        "checkpoint",
        Checkpoints.view(run.checkpoints()).list().newest().map(one -> one.step()).orElse(-1L));
    Optional<CopyStatus> copy = CopyStatus.of(run);
    if (copy.isPresent()) {
      row.put("copy", copy.get().target());
      row.put("copy_lacks", copy.get().objects());
      row.put("copy_lacks_bytes", copy.get().bytes());
    }
    return row;
  }

  private void print(PrintWriter out, Map<String, Object> row) {
    printed++;
    if (json) {
      out.println(new JsonText().line(row));
      return;
    }
    StringBuilder line = new StringBuilder();
    line.append(row.get("run"));
    if (row.containsKey("problem")) {
      out.println(line.append("  cannot be read: ").append(row.get("problem")));
      return;
    }
    long step = ((Number) row.getOrDefault("checkpoint", -1L)).longValue();
    line.append(step < 0 ? "  no checkpoint" : "  checkpoint step" + step);
    if (row.containsKey("bytes")) {
      line.append("  %s checkpoints  %s bytes".formatted(row.get("checkpoints"), row.get("bytes")));
    }
    if (row.containsKey("copy")) {
      line.append(
          Objects.equals(row.get("copy_lacks"), 0)
              ? "  copy complete at %s".formatted(row.get("copy"))
              : "  copy at %s lacks %s files or checkpoints, %s bytes"
                  .formatted(row.get("copy"), row.get("copy_lacks"), row.get("copy_lacks_bytes")));
    }
    out.println(line);
  }
}
