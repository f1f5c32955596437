package io.troupe.cli;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** {@code troupe completion}: the commands and options for a shell. */
@Command(
    name = "completion",
    description = "Prints a script by which bash and zsh complete commands and options.",
    footer = {
      "",
      "Examples:",
      "  source <(./troupe completion)                     # this shell",
      "  ./troupe completion > ~/.troupe-completion.sh     # and source it in ~/.bashrc or ~/.zshrc"
    })
final class CompletionCommand extends CliCommand {
  @Override
  public Integer call() {
    out().print(AutoComplete.bash("troupe", Main.commandLine()));
    out().flush();
    return ExitCode.OK.code();
  }
}
