package io.troupe.cli.models;

import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe models}: the models of this machine's cache. */
@Command(
    name = "models",
    description =
        "Fetches models by name into the cache of this machine, lists what it holds, and exports weights.",
    subcommands = {ModelsFetchCommand.class, ModelsListCommand.class, ModelsExportCommand.class},
    footer = {
      "",
      "Examples:",
      "  troupe models fetch Qwen/Qwen3-0.6B",
      "  HF_TOKEN=… troupe models fetch meta-llama/Llama-3.2-1B",
      "  troupe models list --json"
    })
public final class ModelsCommand extends CommandGroup {}
