package io.troupe.cli.certs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code troupe certs}: keys and certificates of a cluster. */
@Command(
    name = "certs",
    mixinStandardHelpOptions = true,
    description = {
      "Makes the certificates that the hosts of a cluster know each other by: one authority, and a"
          + " certificate for every host, good for its own addresses."
    },
    subcommands = {CertsInitCommand.class, CertsIssueCommand.class, CertsListCommand.class},
    footer = {
      "",
      "Examples:",
      "  troupe certs init certs",
      "  troupe certs issue certs node1 --address 10.0.0.1 --address node1.lan",
      "  troupe certs list certs"
    })
public final class CertsCommand implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandLine command = Objects.requireNonNull(spec).commandLine();
    command.usage(command.getOut());
  }
}
