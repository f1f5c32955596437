package io.troupe.launch;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that has subcommands, and itself prints which. */
@Command(mixinStandardHelpOptions = true)
public abstract class CommandGroup implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public final void run() {
    commandLine().usage(commandLine().getOut());
  }

  /** The command line that the command is of. */
  protected final CommandLine commandLine() {
    return spec.commandLine();
  }
}
