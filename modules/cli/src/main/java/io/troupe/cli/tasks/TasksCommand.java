package io.troupe.cli.tasks;

import io.troupe.cli.gym.FactoryImportCommand;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code troupe tasks}: what there is to train on. */
@Command(
    name = "tasks",
    mixinStandardHelpOptions = true,
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
public final class TasksCommand implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public void run() {
    Objects.requireNonNull(spec).commandLine().usage(System.out);
  }
}
