package io.troupe.cli.replay;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.replay.ReplayReport;
import io.troupe.run.replay.ReplaySettings;
import io.troupe.run.replay.RunReplay;
import io.troupe.run.session.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe replay}: makes a run again from its journal and compares every bit. */
@Command(
    name = "replay",
    description = {
      "Makes an asynchronous run again from its journal: samples every scored group with the weights"
          + " of its tokens, makes every step, and compares tokens, log-probabilities and weights"
          + " bit for bit. Rewards are the recorded ones. The run folder is not changed."
    },
    footer = {
      "",
      "Exit codes: 0 all bits are equal · 1 they are not, the first difference is named · 2 no such"
          + " run, or it cannot be replayed here",
      "",
      "Examples:",
      "  troupe replay quickstart-20261121-140200",
      "  troupe replay runs/quickstart-20261121-140200 --to 20 --json"
    })
public final class ReplayCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = "--from",
      paramLabel = "STEP",
      description =
          "Begins at the newest place at or before this step: the beginning of the run, or a"
              + " checkpoint from which a process continued it. Default: the beginning.")
  private long from;

  @Option(names = "--to", paramLabel = "STEP", description = "The last step; default: all.")
  private long to = Long.MAX_VALUE;

  @Option(
      names = "--anyway",
      description = "Replay with another library or machine too, and note what differs.")
  private boolean anyway;

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException, ReplayRefusedException {
    PrintWriter out = out();
    PrintWriter err = err();
    ReplaySettings settings = settings();
    ReplayReport report =
        RunReplay.of(
            run.view(),
            settings,
            line -> {
              err.println(line);
              err.flush();
            });
    if (json) {
      out.println(new JsonText().line(report.toMap()));
    } else {
      report.lines().forEach(out::println);
    }
    out.flush();
    return (report.difference().isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private ReplaySettings settings() throws ReplayRefusedException {
    try {
      return new ReplaySettings(from, to, anyway);
    } catch (IllegalArgumentException wrong) {
      throw new ReplayRefusedException(String.valueOf(wrong.getMessage()));
    }
  }
}
