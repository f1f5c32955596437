package io.troupe.cli.eval;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.core.evaluation.Estimate;
import io.troupe.evaluation.EvaluationComparison;
import io.troupe.evaluation.EvaluationComparison.Compared;
import io.troupe.evaluation.EvaluationComparison.Flip;
import io.troupe.evaluation.EvaluationComparison.TaskComparison;
import io.troupe.evaluation.EvaluationFolder;
import io.troupe.run.session.JsonText;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe eval compare}: two evaluations of the same prompts. */
@Command(
    name = "compare",
    description =
        "Compares two evaluations on the samples that both judged: shares that pass and mean"
            + " rewards, their differences with 95 %% intervals and tests, and the samples that"
            + " flipped with both texts.",
    footer = {"", "Example:", "  troupe eval compare eval/v100 eval/v300 --flips-to flips.jsonl"})
final class EvalCompareCommand extends CliCommand {
  private static final int EXCERPT = 400;

  @Parameters(index = "0", paramLabel = "A", description = "Folder of the first evaluation.")
  private @Nullable Path first;

  @Parameters(index = "1", paramLabel = "B", description = "Folder of the second evaluation.")
  private @Nullable Path second;

  @Option(
      names = "--flips",
      paramLabel = "N",
      description = "Flipped samples printed of each task (default: ${DEFAULT-VALUE}).")
  private int printed = 3;

  @Option(
      names = "--flips-to",
      paramLabel = "FILE",
      description = "JSON Lines of all flipped samples, with both texts.")
  private @Nullable Path flipsTo;

  @Override
  public Integer call() throws IOException {
    EvaluationComparison comparison =
        new EvaluationComparison(
            EvaluationFolder.view(Objects.requireNonNull(first)),
            EvaluationFolder.view(Objects.requireNonNull(second)));
    List<TaskComparison> tasks = comparison.tasks();
    PrintWriter out = out();
    out.print(table(tasks));
    comparison.marks().forEach(out::println);
    for (TaskComparison task : tasks) {
      task.flips().stream().limit(printed).forEach(flip -> print(flip, out));
    }
    out.flush();
    if (flipsTo != null) {
      write(tasks, flipsTo);
    }
    return ExitCode.OK.code();
  }

  private static String table(List<TaskComparison> tasks) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "task",
            "pairs",
            "unpaired",
            "mean of",
            "A",
            "B",
            "B − A",
            "95 %",
            "only A",
            "only B",
            "p"));
    for (TaskComparison task : tasks) {
      String first = Integer.toString(task.test().onlyFirst());
      String second = Integer.toString(task.test().onlySecond());
      rows.add(row(task, "passed", task.passed(), first, second));
      rows.add(row(task, "reward", task.reward(), "", ""));
    }
    return EvalTable.aligned(rows);
  }

  private static List<String> row(
      TaskComparison task, String number, Compared means, String onlyFirst, String onlySecond) {
    return List.of(
        task.task(),
        Integer.toString(task.pairs()),
        Integer.toString(task.unpaired()),
        number,
        number(means.first(), means.first().value(), "%.3f"),
        number(means.second(), means.second().value(), "%.3f"),
        number(means.difference(), means.difference().value(), "%+.3f"),
        number(means.difference(), means.difference().low(), "%+.3f")
            + " to "
            + number(means.difference(), means.difference().high(), "%+.3f"),
        onlyFirst,
        onlySecond,
        String.format(Locale.ROOT, "%.3g", means.pValue()));
  }

  private static String number(Estimate of, double value, String format) {
    return of.isPresent() ? String.format(Locale.ROOT, format, value) : "–";
  }

  private static void print(Flip flip, PrintWriter out) {
    out.printf(
        "%n%s %s sample %d: only %s passes%n── A%n%s%n── B%n%s%n",
        flip.task(),
        flip.id(),
        flip.sample(),
        flip.firstPassed() ? "A" : "B",
        excerpt(flip.first()),
        excerpt(flip.second()));
  }

  private static String excerpt(String text) {
    return text.length() <= EXCERPT ? text : text.substring(0, EXCERPT) + "…";
  }

  private static void write(List<TaskComparison> tasks, Path file) throws IOException {
    JsonText json = new JsonText();
    try (BufferedWriter lines = Files.newBufferedWriter(file)) {
      for (TaskComparison task : tasks) {
        for (Flip flip : task.flips()) {
          Map<String, Object> line = new LinkedHashMap<>();
          line.put("task", flip.task());
          line.put("id", flip.id());
          line.put("sample", flip.sample());
          line.put("passed", flip.firstPassed() ? "A" : "B");
          line.put("a", flip.first());
          line.put("b", flip.second());
          lines.write(json.line(line));
          lines.write('\n');
        }
      }
    }
  }
}
