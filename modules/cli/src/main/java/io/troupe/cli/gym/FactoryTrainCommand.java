package io.troupe.cli.gym;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.gym.factory.FactoryEntry;
import io.troupe.gym.factory.FactorySettings;
import io.troupe.gym.factory.FactoryTraining;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe gym llama-factory}: trains a model by LLaMA-Factory, where it is installed. */
@Command(
    name = "llama-factory",
    description = {
      "Trains a model on a data set by llamafactory-cli, which must be installed (or named by the"
          + " environment variable TROUPE_LLAMAFACTORY), and checks what it left.",
      "The folder gets llama_factory_config.yaml, llama_factory.log and output."
    },
    footer = {
      "",
      "Exit codes: 0 trained · 2 bad usage · 4 failed",
      "",
      "Example:",
      "  troupe gym llama-factory lf --model Qwen/Qwen3-0.6B --template qwen3_nothink -o trained"
    })
final class FactoryTrainCommand extends CliCommand {
  @Parameters(paramLabel = "DIR", description = "Folder with dataset_info.json.")
  private @Nullable Path folder;

  @Option(
      names = "--data-set",
      paramLabel = "NAME",
      description = "Data set in it; default ${DEFAULT-VALUE}.")
  private String dataSet = FactoryEntry.CUSTOM;

  @Option(names = "--model", required = true, paramLabel = "MODEL", description = "Base model.")
  private String model = "";

  @Option(
      names = "--template",
      required = true,
      paramLabel = "NAME",
      description = "LLaMA-Factory's name of the chat template.")
  private String template = "";

  @Option(
      names = "--gpus",
      paramLabel = "N",
      description = "GPUs that it trains on, 0 for the CPU; default ${DEFAULT-VALUE}.")
  private int gpus = 1;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key.")
  private Map<String, String> overrides = new LinkedHashMap<>();

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "DIR",
      description = "Folder of the training.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    CommandLine command = commandLine();
    FactorySettings settings;
    try {
      settings = new FactorySettings(model, template, gpus, overrides);
    } catch (IllegalArgumentException wrong) {
      throw refused(String.valueOf(wrong.getMessage()));
    }
    Path data = Objects.requireNonNull(folder);
    FactoryEntry entry = FactoryEntry.read(data, dataSet);
    command
        .getOut()
        .printf("training on %s, %d rows a step%n", entry.file(), settings.effectiveBatch());
    FactoryTraining.Trained trained =
        new FactoryTraining(FactoryTraining.program(), settings, line -> say(command, line))
            .run(data, dataSet, Objects.requireNonNull(output));
    say(command, "trained, loss %s: %s".formatted(trained.loss(), trained.output()));
    return ExitCode.OK.code();
  }

  private static void say(CommandLine command, String line) {
    command.getOut().println(line);
    command.getOut().flush();
  }
}
