package io.troupe.cli.command;

import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command with {@code --help}, which returns an exit code. */
@Command(mixinStandardHelpOptions = true)
public abstract class CliCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  protected final CommandLine commandLine() {
    return spec.commandLine();
  }

  protected final PrintWriter out() {
    return commandLine().getOut();
  }

  protected final PrintWriter err() {
    return commandLine().getErr();
  }

  /** Returns the folder, and refuses that of a supervised run. */
  protected final RunFolder withRollouts(RunFolder folder) throws IOException {
    if (folder.isSupervised()) {
      throw refused("%s is a supervised run, which has no rollouts".formatted(folder.name()));
    }
    return folder;
  }

  /** Whether the command line has an option. */
  protected final boolean has(String option) {
    return commandLine().getParseResult().hasMatchedOption(option);
  }

  /** The refusal of a command line that cannot be carried out. */
  protected final ParameterException refused(String message) {
    return new ParameterException(commandLine(), message);
  }

  /** The refusal of a command line, with what it failed by. */
  protected final ParameterException refused(String message, Throwable cause) {
    return new ParameterException(commandLine(), message, cause);
  }
}
