package io.troupe.cli.gym;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.gym.config.GymConfig;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.session.GymChart;
import io.troupe.gym.session.GymComparison;
import io.troupe.gym.session.GymFolder;
import io.troupe.gym.session.GymJournal;
import io.troupe.gym.session.GymParts;
import io.troupe.run.task.InvalidVerifierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe gym report}: what a gym has measured so far. */
@Command(
    name = "report",
    description =
        "Prints what a gym has measured: accuracy by arm and skill, paired differences from"
            + " uniform, rows refused and why, cost. A gym that is running can be read too.",
    footer = {
      "",
      "Example:",
      "  troupe gym report gyms/gym-arithmetic-20261123-054500 --svg a.svg"
    })
final class GymReportCommand extends CliCommand {
  @Parameters(paramLabel = "DIR", description = "Folder of the gym.")
  private @Nullable Path path;

  @Option(names = "--svg", paramLabel = "FILE", description = "Writes a chart by iteration.")
  private @Nullable Path svg;

  @Override
  public Integer call() throws IOException, InvalidVerifierException {
    GymFolder folder = new GymFolder(Objects.requireNonNull(path));
    CommandLine command = commandLine();
    if (!Files.isRegularFile(folder.resolved())) {
      throw refused("%s is no folder of a gym: it has no resolved.yaml".formatted(path));
    }
    GymConfig config = GymConfig.load(folder.resolved(), List.of()).config();
    GymPlan plan = config.plan();
    try (GymTask task = GymParts.task(config, folder)) {
      GymComparison comparison =
          new GymComparison(plan, folder, task.test(), GymJournal.read(folder.journal(), plan));
      command.getOut().print(comparison.text());
      if (svg != null) {
        AtomicFile.replace(svg, new GymChart(comparison).svg());
        command.getOut().println("chart written to " + svg);
      }
    }
    command.getOut().flush();
    return ExitCode.OK.code();
  }
}
