package io.troupe.cli;

import io.troupe.aws.ec2.Ec2Command;
import io.troupe.aws.sagemaker.SageMakerCommand;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.certs.CertsCommand;
import io.troupe.cli.command.RefusedArguments;
import io.troupe.cli.copy.RunsCommand;
import io.troupe.cli.doctor.DoctorCommand;
import io.troupe.cli.eval.EvalCommand;
import io.troupe.cli.export.ExportCommand;
import io.troupe.cli.export.TraceCommand;
import io.troupe.cli.gym.GymCommand;
import io.troupe.cli.loss.LossCommand;
import io.troupe.cli.models.ModelsCommand;
import io.troupe.cli.node.DrainNodeCommand;
import io.troupe.cli.node.NodeCommand;
import io.troupe.cli.node.TrainerRankCommand;
import io.troupe.cli.node.WorkerCommand;
import io.troupe.cli.ops.ConsoleCommand;
import io.troupe.cli.ops.FlameCommand;
import io.troupe.cli.ops.InspectCommands;
import io.troupe.cli.ops.OperatorCommands;
import io.troupe.cli.replay.CompareCommand;
import io.troupe.cli.replay.ExplainCommand;
import io.troupe.cli.replay.ReplayCommand;
import io.troupe.cli.simulate.FitCommand;
import io.troupe.cli.simulate.SimulateCommand;
import io.troupe.cli.simulate.WhatIfCommand;
import io.troupe.cli.supervised.SftCommand;
import io.troupe.cli.tasks.TasksCommand;
import io.troupe.cli.torch.TorchCommand;
import io.troupe.cli.track.TrackCommand;
import io.troupe.cli.verify.VerifyCommand;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.config.LossJar;
import io.troupe.config.binding.ConfigurationException;
import io.troupe.engine.djl.install.UnusableTorchException;
import io.troupe.launch.LaunchCommand;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.soak.SoakCommand;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command line. */
@Command(
    name = "troupe",
    mixinStandardHelpOptions = true,
    description = "Trains language models by asynchronous GRPO on verifiable rewards.",
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
  /** The classes of all commands; the names are in their annotations. */
  private static final List<Class<?>> COMMANDS =
      Stream.of(
              List.of(
                  TrainCommand.class,
                  SftCommand.class,
                  PlanCommand.class,
                  SimulateCommand.class,
                  FitCommand.class,
                  WhatIfCommand.class,
                  AuditCommand.class,
                  ReplayCommand.class,
                  ExplainCommand.class,
                  CompareCommand.class,
                  CertsCommand.class,
                  LaunchCommand.class,
                  Ec2Command.class,
                  SageMakerCommand.class,
                  VerifyCommand.class,
                  LossCommand.class,
                  EvalCommand.class,
                  TasksCommand.class,
                  GymCommand.class,
                  ServeCommand.class,
                  RunsCommand.class,
                  NodeCommand.class,
                  DrainNodeCommand.class,
                  WorkerCommand.class,
                  TrainerRankCommand.class,
                  DoctorCommand.class,
                  CompletionCommand.class,
                  TorchCommand.class,
                  ModelsCommand.class,
                  SoakCommand.class,
                  ConsoleCommand.class,
                  FlameCommand.class,
                  TraceCommand.class,
                  ExportCommand.class,
                  TrackCommand.class),
              InspectCommands.ALL,
              OperatorCommands.ALL)
          .flatMap(List::stream)
          .toList();

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private Main() {}

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  /** Returns the command line with all its commands. */
  public static CommandLine commandLine() {
    return commandLine(COMMANDS);
  }

  /**
   * Returns the command line with the one command that arguments begin with, and with all if they
   * begin otherwise. Reading the options of all takes as long as the start of the JVM.
   */
  static CommandLine commandLine(String[] arguments) {
    List<Class<?>> named =
        COMMANDS.stream()
            .filter(type -> arguments.length > 0 && name(type).equals(arguments[0]))
            .toList();
    return commandLine(named.isEmpty() ? COMMANDS : named);
  }

  private static String name(Class<?> command) {
    return Objects.requireNonNull(command.getAnnotation(Command.class)).name();
  }

  private static CommandLine commandLine(List<Class<?>> commands) {
    Main main = new Main();
    CommandLine commandLine =
        new CommandLine(main)
            .setExecutionExceptionHandler((failure, command, _) -> explain(failure, command))
            .setParameterExceptionHandler((refused, _) -> RefusedArguments.explain(refused));
    for (Class<?> command : commands) {
      commandLine.addSubcommand(
          command == SoakCommand.class ? new SoakCommand(Main.class) : command);
    }
    commandLine.setCaseInsensitiveEnumValuesAllowed(true); // of the subcommands there are by now
    commandLine
        .getHelpSectionMap()
        .put(CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST, new CommandOverview());
    commandLine
        .getHelpSectionMap()
        .remove(CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING);
    String version = "troupe " + BuildInfo.version();
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
      case RunNotFoundException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case LossJar.RefusedException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case InvalidVerifierException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case UnmodelledRunException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case ReplayRefusedException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case TaskDataException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case UnsupportedPolicyException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case UnusableTorchException bad -> refuse(command, bad.getMessage(), ExitCode.USAGE);
      case ClusterJoinException alone -> refuse(command, alone.getMessage(), ExitCode.UNREACHABLE);
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
