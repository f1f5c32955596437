package io.troupe.cli.command;

import io.troupe.base.process.ExitCode;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The message for a refused command line: the reason, the usage, and the place of the rest. */
public final class RefusedArguments {
  private RefusedArguments() {}

  /** Prints it, and returns the exit code. */
  public static int explain(ParameterException refused) {
    CommandLine command = refused.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("error: " + refused.getMessage());
    UnmatchedArgumentException.printSuggestions(refused, err);
    err.print("usage: " + command.getHelp().abbreviatedSynopsis());
    err.println("       " + command.getCommandSpec().qualifiedName() + " --help lists the options");
    err.flush();
    return ExitCode.USAGE.code();
  }
}
