package io.troupe.cli.gym;

import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe gym}: agents that make the data a student needs. */
@Command(
    name = "gym",
    description = {
      "Trains students on data that an agent makes from their errors, and compares ways to make"
          + " it. docs/gym.md describes all of it."
    },
    subcommands = {GymRunCommand.class, GymReportCommand.class, FactoryTrainCommand.class},
    footer = {"", "Example:", "  troupe gym run conf/gym-arithmetic.yaml"})
public final class GymCommand extends CommandGroup {}
