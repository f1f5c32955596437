package io.troupe.cli.loss;

import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe loss}: losses of a user's own. */
@Command(
    name = "loss",
    description = "Checks losses and advantages of your own, in a jar.",
    subcommands = LossCheckCommand.class,
    footer = {"", "Example:", "  troupe loss check mine.jar acme.Tapered"})
public final class LossCommand extends CommandGroup {}
