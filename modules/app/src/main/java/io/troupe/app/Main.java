package io.troupe.app;

import io.troupe.app.config.binding.ConfigurationException;
import io.troupe.app.console.ActCommands;
import io.troupe.app.console.ConsoleCommand;
import io.troupe.app.console.ExportCommand;
import io.troupe.app.console.FlameCommand;
import io.troupe.app.console.LookCommands;
import io.troupe.app.console.TraceCommand;
import io.troupe.cluster.Joining.CannotJoinException;
import io.troupe.tasks.BadTaskData;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line. */
@Command(
    name = "troupe",
    mixinStandardHelpOptions = true,
    description = "Trains language models by asynchronous GRPO on verifiable rewards.",
    subcommands = {
      TrainCommand.class,
      PlanCommand.class,
      AuditCommand.class,
      CertsCommand.class,
      LaunchCommand.class,
      VerifyCommand.class,
      TasksCommand.class,
      ServeCommand.class,
      NodeCommand.class,
      DrainNodeCommand.class,
      WorkerCommand.class,
      TrainerRankCommand.class,
      DoctorCommand.class
    },
    footer = {
      "",
      "Also, by the launcher:  troupe test · troupe build · troupe bench",
      "",
      "Exit codes:",
      "  0 ok · 1 done, but part of the input was bad, or the doctor found a fault · 2 bad usage or"
          + " configuration · 3 cluster unreachable",
      "  4 run failed · 130, 143 interrupted by SIGINT, SIGTERM",
      "",
      "Example:",
      "  troupe train conf/quickstart.yaml"
    })
public final class Main implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    Main main = new Main();
    CommandLine commandLine =
        new CommandLine(main)
            .setExecutionExceptionHandler((failure, command, _) -> explain(failure, command));
    commandLine.addSubcommand(new SoakCommand(Main.class));
    LookCommands.ALL.forEach(commandLine::addSubcommand);
    ActCommands.ALL.forEach(commandLine::addSubcommand);
    commandLine.addSubcommand(ConsoleCommand.class);
    commandLine.addSubcommand(FlameCommand.class);
    commandLine.addSubcommand(TraceCommand.class);
    commandLine.addSubcommand(ExportCommand.class);
    commandLine.setCaseInsensitiveEnumValuesAllowed(true); // of the subcommands there are by now
    String version = "troupe " + Build.version();
    commandLine.getCommandSpec().version(version);
    commandLine
        .getSubcommands()
        .values()
        .forEach(command -> command.setUsageHelpAutoWidth(true).getCommandSpec().version(version));
    return commandLine;
  }

  @Override
  public void run() {
    Objects.requireNonNull(spec).commandLine().usage(System.out);
  }

  /** Expected failures are sentences; anything else is a defect and shows where. */
  private static int explain(Exception failure, CommandLine command) {
    return switch (failure) {
      case ConfigurationException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case NoSuchRunException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case BadVerifierException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case BadTaskData bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case UnfitPolicyException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case CannotJoinException alone -> refuse(command, alone.getMessage(), ExitCode.UNREACHABLE);
      case IOException disk -> refuse(command, disk.getMessage(), ExitCode.FAILED);
      default -> {
        failure.printStackTrace(command.getErr());
        yield refuse(
            command,
            "this is a defect of Troupe; please report it with the lines above",
            ExitCode.FAILED);
      }
    };
  }

  private static int refuse(CommandLine command, @Nullable String message, ExitCode code) {
    command.getErr().println("error: " + message);
    command.getErr().flush();
    return code.code();
  }
}
