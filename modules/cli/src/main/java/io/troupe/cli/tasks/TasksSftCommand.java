package io.troupe.cli.tasks;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.RunConfig;
import io.troupe.core.prompt.Prompt;
import io.troupe.run.compose.Composition;
import io.troupe.run.session.JsonText;
import io.troupe.tasks.Task;
import io.troupe.tasks.results.PromptResults;
import io.troupe.tasks.results.StoredResults;
import io.troupe.tasks.results.StoredResults.Band;
import io.troupe.tasks.results.StoredResults.Solved;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe tasks sft}: a supervised set from pass rates. */
@Command(
    name = "sft",
    description = {
      "Writes rows for `troupe sft`: correct completions of prompts that are sometimes solved.",
      "They load as a task too: {name: jsonl, solution_field: completion, verifier: …}."
    },
    footer = {
      "",
      "Examples:",
      "  troupe tasks sft --from eval --key pass@4 --output sft.jsonl",
      "  troupe tasks sft --from runs/quickstart-20261121-140200 --max 1 --output sft.jsonl",
      "  troupe tasks sft --from results.jsonl --config conf/math.yaml --output sft.jsonl"
    })
final class TasksSftCommand extends CliCommand {
  @Mixin private ResultOptions results = new ResultOptions();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "Configuration whose task has the prompts; needed where the results do not hold them.")
  private @Nullable Path config;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key of it.")
  private List<String> overrides = new ArrayList<>();

  @Option(names = "--output", paramLabel = "FILE", required = true, description = "JSON Lines.")
  private @Nullable Path output;

  @Option(
      names = "--min",
      paramLabel = "RATE",
      defaultValue = "-Infinity",
      description = "Least value of the key, which may be below 0; default ${DEFAULT-VALUE}.")
  private double least;

  @Option(
      names = "--max",
      paramLabel = "RATE",
      defaultValue = "0.5",
      description = "Values of the key stay below it; 1 includes 1; default ${DEFAULT-VALUE}.")
  private double most;

  @Option(
      names = "--each",
      paramLabel = "N",
      description = "Most completions of a prompt; default ${DEFAULT-VALUE}.")
  private int each = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Chooses completions and their order; default ${DEFAULT-VALUE}.")
  private long seed = 42;

  @Override
  public Integer call() throws IOException {
    StoredResults read = results.read();
    List<Solved> examples =
        read.solved(results.key(), new Band(least, most, most == 1), each, seed);
    results.unknown(read).ifPresent(System.err::println);
    if (examples.isEmpty()) {
      throw new TaskDataException(
          ("%s: no prompt with a %s from %s to below %s has a correct completion; lines need the"
                  + " field completion, and --min and --max may be too narrow")
              .formatted(results.places(), results.key(), least, most));
    }
    Map<String, Prompt> prompts = prompts();
    List<String> lines = new ArrayList<>();
    Map<String, Integer> number = new HashMap<>();
    for (Solved example : examples) {
      int nth = number.merge(example.id(), 1, Integer::sum);
      lines.add(line(example, nth == 1 ? "" : "#" + nth, read, prompts));
    }
    Files.write(Objects.requireNonNull(output), lines);
    System.out.printf("%,d examples written to %s%n", lines.size(), output);
    return ExitCode.OK.code();
  }

  private Map<String, Prompt> prompts() throws IOException {
    Map<String, Prompt> prompts = new HashMap<>();
    if (config != null) {
      Task task = Composition.described(RunConfig.load(config, overrides).config()).task();
      Stream.concat(task.train().stream(), task.heldOut().stream())
          .forEach(prompt -> prompts.put(prompt.id().value(), prompt));
    }
    return prompts;
  }

  private String line(
      Solved example, String suffix, StoredResults read, Map<String, Prompt> prompts) {
    PromptResults measured = read.byId().getOrDefault(example.id(), PromptResults.NONE);
    Prompt prompt = prompts.get(example.id());
    if (prompt == null && config != null) {
      throw new TaskDataException(
          "the results name the prompt %s, which the task of %s does not have"
              .formatted(example.id(), config));
    }
    if (prompt == null && measured.prompt().isEmpty()) {
      throw new TaskDataException(
          "the results do not hold the text of prompt %s; give --config, whose task has it"
              .formatted(example.id()));
    }
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("id", example.id() + suffix);
    String source = prompt == null ? measured.source() : prompt.source();
    if (!source.isEmpty()) {
      line.put("source", source);
    }
    line.put("prompt", prompt == null ? measured.prompt() : prompt.text());
    if (prompt != null) {
      line.put("answer", prompt.answer());
    }
    line.put("completion", example.completion());
    line.put("pass_rate", example.difficulty());
    return new JsonText().line(line);
  }
}
