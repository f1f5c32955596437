package io.troupe.cli.replay;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.run.replay.ExplainedToken;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.replay.StepExplanation;
import io.troupe.run.session.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe explain}: the life of one completion, from its sampling to its loss weight. */
@Command(
    name = "explain",
    description = {
      "Explains a completion of a step's batch: which worker and versions sampled it, its reward and"
          + " verdict, its advantage beside its group's rewards, its staleness, loss weight, and which"
          + " tokens were clipped, cut or masked. Reads the journal and the traces; --tokens replays the"
          + " run up to the step for the log-probabilities of sampler and trainer at each token."
    },
    footer = {
      "",
      "Exit codes: 0 ok · 2 no such run, step or row, or --tokens of a run that cannot be replayed",
      "",
      "Examples:",
      "  troupe explain quickstart-20261121-140200 --step 412            # a line a row",
      "  troupe explain quickstart-20261121-140200 --step 412 --row 17 --json",
      "  troupe explain quickstart-20261121-140200 --step 412 --row 17 --tokens"
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

  @Option(
      names = "--tokens",
      description =
          "Replays the run up to the step, and prints each token of the row: log-probabilities of"
              + " sampler and trainer, ratio, clip, correction and loss weight.")
  private boolean tokens;

  @Option(names = "--json", description = "One JSON object a row instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException, ReplayRefusedException {
    StepExplanation explanation = StepExplanation.of(run.view(), step);
    if (row < ALL || row >= explanation.rows()) {
      throw new ReplayRefusedException(
          "--row is from 0 to %d in step %d, not %d".formatted(explanation.rows() - 1, step, row));
    }
    if (tokens && row == ALL) {
      throw new ReplayRefusedException("--tokens explains the tokens of one row; name it by --row");
    }
    PrintWriter out = out();
    if (tokens) {
      PrintWriter err = err();
      List<ExplainedToken> all = explanation.tokens(row, err::println);
      print(explanation.row(row), all, out);
      out.flush();
      return ExitCode.OK.code();
    }
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
                  digits(life.get("reward")),
                  digits(life.get("advantage")),
                  life.get("tokens"),
                  life.get("tokens_with_loss_weight"),
                  life.get("worker")));
    } else {
      life.forEach((name, value) -> out.println("%-24s %s".formatted(name, digits(value))));
    }
  }

  private void print(Map<String, Object> life, List<ExplainedToken> all, PrintWriter out) {
    life.remove("log_probs");
    life.remove("ratio");
    if (json) {
      life.put("token_lives", all.stream().map(ExplainedToken::toMap).toList());
      out.println(new JsonText().line(life));
      return;
    }
    print(life, out);
    out.println(
        "%5s %7s %-8s %7s %5s %9s %9s %7s %-7s %6s %9s %9s"
            .formatted(
                "token", "id", "text", "version", "stale", "log q", "log p", "p/q", "clip", "corr.",
                "weight", "d loss"));
    for (ExplainedToken token : all) {
      ExplainedToken.InLoss loss = token.inLoss();
      String sampled =
          "%5d %7d %-8s %7d %5d %9.4f"
              .formatted(
                  token.place(),
                  token.id(),
                  new JsonText().line(token.text()),
                  token.version(),
                  token.staleness(),
                  token.samplerLogProb());
      out.println(
          token.lossWeight() == 0
              ? sampled + "  no loss weight"
              : "%s %9.4f %7.4f %-7s %6.3f %9.3g %9.3g"
                  .formatted(
                      sampled,
                      loss.trainerLogProb(),
                      token.ratio(),
                      loss.masked() ? "masked" : loss.clipped().isEmpty() ? "-" : loss.clipped(),
                      loss.correction(),
                      token.lossWeight(),
                      loss.derivative()));
    }
  }

  /** Six digits are more than a person compares; JSON has them all. */
  private static String digits(@Nullable Object value) {
    return value instanceof Double || value instanceof Float
        ? "%.6g".formatted(((Number) value).doubleValue())
        : String.valueOf(value);
  }
}
