package io.troupe.cli.tasks;

import io.troupe.cli.gym.FactoryImportCommand;
import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe tasks}: what there is to train on. */
@Command(
    name = "tasks",
    description = "Lists tasks, shows their prompts, and builds curricula and supervised sets.",
    subcommands = {
      TasksListCommand.class,
      TasksShowCommand.class,
      TasksCurriculumCommand.class,
      TasksSftCommand.class,
      FactoryImportCommand.class
    },
    footer = {
      "",
      "Examples:",
      "  troupe tasks list",
      "  troupe tasks show mbpp --config conf/mbpp.yaml --id mbpp_601"
    })
public final class TasksCommand extends CommandGroup {}
