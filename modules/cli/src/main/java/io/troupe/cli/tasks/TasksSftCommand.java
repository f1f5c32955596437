package io.troupe.cli.tasks;

import io.troupe.base.process.ExitCode;
import io.troupe.config.RunConfig;
import io.troupe.core.prompt.Prompt;
import io.troupe.run.compose.Composition;
import io.troupe.run.session.JsonText;
import io.troupe.tasks.PassRates;
import io.troupe.tasks.PassRates.Example;
import io.troupe.tasks.Task;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe tasks sft}: a supervised set from pass rates. */
@Command(
    name = "sft",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a supervised set: one correct completion of each prompt that is sometimes solved.",
      "Its lines load as a task: {name: jsonl, solution_field: completion, verifier: …}."
    },
    footer = {
      "",
      "Example:",
      "  troupe tasks sft --from results.jsonl --config conf/math.yaml --output sft.jsonl"
    })
final class TasksSftCommand implements Callable<Integer> {
  @Option(
      names = "--from",
      paramLabel = "FILE",
      required = true,
      description = "Results: lines with id, reward and completion; may be given often.")
  private List<Path> from = new ArrayList<>();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      required = true,
      description = "Configuration whose task has the prompts.")
  private @Nullable Path config;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key of it.")
  private List<String> overrides = new ArrayList<>();

  @Option(names = "--output", paramLabel = "FILE", required = true, description = "JSON Lines.")
  private @Nullable Path output;

  @Option(
      names = "--min",
      paramLabel = "RATE",
      defaultValue = "0",
      description = "Least pass rate; default ${DEFAULT-VALUE}.")
  private double least;

  @Option(
      names = "--max",
      paramLabel = "RATE",
      defaultValue = "0.5",
      description = "Pass rates stay below it; default ${DEFAULT-VALUE}.")
  private double most;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "42",
      description = "Chooses completions and their order; default ${DEFAULT-VALUE}.")
  private long seed;

  @Override
  public Integer call() throws IOException {
    List<Example> examples = PassRates.read(from).examples(least, most, seed);
    if (examples.isEmpty()) {
      throw new TaskDataException(
          ("%s: no prompt with a pass rate from %s to below %s has a correct completion; lines need"
                  + " the field completion, and --min and --max may be too narrow")
              .formatted(from, least, most));
    }
    Task task =
        Composition.described(RunConfig.load(Objects.requireNonNull(config), overrides).config())
            .task();
    Map<String, Prompt> prompts = new HashMap<>();
    Stream.concat(task.train().stream(), task.heldOut().stream())
        .forEach(prompt -> prompts.put(prompt.id().value(), prompt));
    List<String> lines = new ArrayList<>();
    for (Example example : examples) {
      lines.add(line(example, prompts));
    }
    Files.write(Objects.requireNonNull(output), lines);
    System.out.printf("%,d examples written to %s%n", lines.size(), output);
    return ExitCode.OK.code();
  }

  private String line(Example example, Map<String, Prompt> prompts) {
    Prompt prompt = prompts.get(example.id());
    if (prompt == null) {
      throw new TaskDataException(
          "the results name the prompt %s, which the task of %s does not have"
              .formatted(example.id(), config));
    }
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("id", example.id());
    line.put("source", prompt.source());
    line.put("prompt", prompt.text());
    line.put("answer", prompt.answer());
    line.put("completion", example.completion());
    line.put("pass_rate", example.passRate());
    return new JsonText().line(line);
  }
}
