package io.troupe.cli.gym;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code troupe gym}: agents that make the data a student needs. */
@Command(
    name = "gym",
    mixinStandardHelpOptions = true,
    description = {
      "Trains students on data that an agent makes from their errors, and compares ways to make"
          + " it. docs/gym.md describes all of it."
    },
    subcommands = {GymRunCommand.class, GymReportCommand.class, FactoryTrainCommand.class},
    footer = {"", "Example:", "  troupe gym run conf/gym-arithmetic.yaml"})
public final class GymCommand implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public void run() {
    Objects.requireNonNull(spec).commandLine().usage(System.out);
  }
}
