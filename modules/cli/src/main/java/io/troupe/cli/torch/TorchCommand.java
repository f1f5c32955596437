package io.troupe.cli.torch;

import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe torch}: the PyTorch that runs compute with. */
@Command(
    name = "torch",
    description = {
      "Finds installed PyTorches, builds the native binding that DJL needs for one, and checks it.",
      "A run uses the one that policy.torch or the variable TROUPE_TORCH names, else DJL's own, which is for CPUs."
    },
    subcommands = {TorchListCommand.class, TorchBuildCommand.class, TorchDoctorCommand.class},
    footer = {
      "",
      "Examples:",
      "  troupe torch list",
      "  troupe torch build ~/vllm-env",
      "  TROUPE_TORCH=~/vllm-env troupe torch doctor"
    })
public final class TorchCommand extends CommandGroup {}
