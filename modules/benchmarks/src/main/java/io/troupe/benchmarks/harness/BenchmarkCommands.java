package io.troupe.benchmarks.harness;

import io.troupe.base.process.ExitCode;
import java.io.IOException;
import picocli.CommandLine;

/** The way in which the commands of benchmarks run. */
public final class BenchmarkCommands {
  private BenchmarkCommands() {}

  /**
   * Runs a command and returns its exit code. What can go wrong in the world is a sentence;
   * anything else is our fault and keeps its stack.
   */
  public static int execute(Object command, String... arguments) {
    return new CommandLine(command)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (failure, _, _) -> {
              if (!(failure instanceof IOException)) {
                throw failure;
              }
              System.err.println("error: " + failure.getMessage());
              return ExitCode.FAILED.code();
            })
        .execute(arguments);
  }
}
