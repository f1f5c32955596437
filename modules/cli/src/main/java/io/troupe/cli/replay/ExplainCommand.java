package io.troupe.cli.replay;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.replay.StepExplanation;
import io.troupe.run.session.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe explain}: the life of one completion, from its sampling to its loss weight. */
@Command(
    name = "explain",
    description = {
      "Explains a completion of a step's batch: which worker and versions sampled it, its reward and"
          + " verdict, its advantage beside its group's rewards, its staleness, loss weight, and which"
          + " tokens were clipped, cut or masked. Reads the journal and the traces."
    },
    footer = {
      "",
      "Exit codes: 0 ok · 2 no such run, step or row",
      "",
      "Examples:",
      "  troupe explain quickstart-20261121-140200 --step 412            # a line a row",
      "  troupe explain quickstart-20261121-140200 --step 412 --row 17 --json"
    })
public final class ExplainCommand extends CliCommand {
  private static final int ALL = -1;

  @Mixin private RunArgument run = new RunArgument();

  @Option(names = "--step", required = true, paramLabel = "N", description = "The step.")
  private long step;

  @Option(
      names = "--row",
      paramLabel = "K",
      description = "The completion's place in the batch, from 0; default: a line for each.")
  private int row = ALL;

  @Option(names = "--json", description = "One JSON object a row instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException, ReplayRefusedException {
    StepExplanation explanation = StepExplanation.of(run.view(), step);
    if (row < ALL || row >= explanation.rows()) {
      throw new ReplayRefusedException(
          "--row is from 0 to %d in step %d, not %d".formatted(explanation.rows() - 1, step, row));
    }
    PrintWriter out = out();
    int first = row == ALL ? 0 : row;
    int last = row == ALL ? explanation.rows() - 1 : row;
    for (int i = first; i <= last; i++) {
      print(explanation.row(i), out);
    }
    out.flush();
    return ExitCode.OK.code();
  }

  private void print(Map<String, Object> life, PrintWriter out) {
    if (json) {
      out.println(new JsonText().line(life));
    } else if (row == ALL) {
      out.println(
          "row %-4s group %-6s completion %-3s reward %-6s advantage %-12s tokens %-5s with weight %-5s by %s"
              .formatted(
                  life.get("row"),
                  life.get("group"),
                  life.get("completion"),
                  life.get("reward"),
                  life.get("advantage"),
                  life.get("tokens"),
                  life.get("tokens_with_loss_weight"),
                  life.get("worker")));
    } else {
      life.forEach((name, value) -> out.println("%-24s %s".formatted(name, value)));
    }
  }
}
