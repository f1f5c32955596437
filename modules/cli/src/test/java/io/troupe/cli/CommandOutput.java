package io.troupe.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/**
 * How a command that was run within this process ended, and what it wrote. What it writes to the
 * process's own streams is not among it.
 */
record CommandOutput(int code, String out, String err) {
  static CommandOutput by(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = command.execute(arguments);
    return new CommandOutput(code, out.toString(), err.toString());
  }
}
