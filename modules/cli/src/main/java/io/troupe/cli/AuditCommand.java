package io.troupe.cli;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.core.audit.AuditReport;
import io.troupe.run.session.JsonText;
import io.troupe.store.audit.AuditText;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe audit}: reads what a run's journal says and checks that it kept its promises. */
@Command(
    name = "audit",
    description = {
      "Reads a run's journal from its first record, keeps counts of its own, and checks that no"
          + " token staler than the bound was trained on, that every prompt ended exactly once an"
          + " epoch, that nothing counted under an ended lease, and that the counts add up.",
      "Changes nothing; the run may be at work."
    },
    footer = {
      "",
      "Exit codes: 0 all promises kept · 1 some were not, each is named · 2 no such run",
      "",
      "Examples:",
      "  troupe audit runs/quickstart-20261121-140200",
      "  troupe audit quickstart-20261121-140200 --json"
    })
final class AuditCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  @Option(names = "--json", description = "One JSON object instead of a table.")
  private boolean json;

  @Override
  public Integer call() throws IOException, RunNotFoundException {
    RunFolder folder = find();
    if (folder.isSupervised()) {
      throw refused("%s is a supervised run, which has no rollouts to account for".formatted(run));
    }
    JournalAudit.Result result = JournalAudit.of(folder);
    AuditReport report = result.report();
    PrintWriter out = out();
    if (json) {
      out.println(new JsonText().line(AuditText.json(folder, result)));
    } else {
      AuditText.lines(folder, result).forEach(out::println);
    }
    out.flush();
    return (report.sound() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private RunFolder find() throws RunNotFoundException {
    try {
      return run.view();
    } catch (IOException absent) {
      throw new RunNotFoundException(absent);
    }
  }
}
