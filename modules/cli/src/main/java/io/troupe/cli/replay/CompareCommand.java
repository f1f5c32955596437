package io.troupe.cli.replay;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.run.fork.RunPair;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.session.JsonText;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe compare}: where two runs part, and why. */
@Command(
    name = "compare",
    description = {
      "Holds the journals of two runs together: what they were computed with, which keys differ, and"
          + " the first step whose batch or weights differ, with the reason."
    },
    footer = {
      "",
      "Exit codes: 0 they do not part, as far as both go · 1 they do · 2 no such run, or no digests",
      "",
      "Example:",
      "  troupe compare quickstart-20261121-140200 quickstart-20261121-150200"
    })
public final class CompareCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "A", description = "Folder or name of a run.")
  private String a = "";

  @Parameters(index = "1", paramLabel = "B", description = "Folder or name of the other run.")
  private String b = "";

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException, ReplayRefusedException {
    Path root = Path.of("runs");
    RunPair pair = RunPair.of(RunFolder.view(root, a), RunFolder.view(root, b));
    PrintWriter out = out();
    if (json) {
      out.println(new JsonText().line(pair.toMap()));
    } else {
      pair.lines().forEach(out::println);
    }
    out.flush();
    return (pair.parting().isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }
}
