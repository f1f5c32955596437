package io.troupe.cli.eval;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.evaluation.EvaluationFolder;
import io.troupe.evaluation.ShardMerge;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe eval merge}: one evaluation from its shards. */
@Command(
    name = "merge",
    description =
        "Joins the shards of one evaluation into a folder as if it had been made at once. All"
            + " shards must be there, whole, and of the same protocol.",
    footer = {"", "Example:", "  troupe eval merge eval/1 eval/2 eval/3 eval/4 -o eval/all"})
final class EvalMergeCommand extends CliCommand {
  @Parameters(arity = "1..*", paramLabel = "DIR", description = "Folders of the shards.")
  private List<Path> shards = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      required = true,
      description = "A new folder.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException {
    Path target = Objects.requireNonNull(output);
    new ShardMerge(shards).into(target, Clock.systemUTC().instant());
    PrintWriter out = out();
    out.print(new EvalTable(EvaluationFolder.view(target)).text(false));
    out.flush();
    return ExitCode.OK.code();
  }
}
