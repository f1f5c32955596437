package io.troupe.cli.certs;

import io.troupe.launch.CommandGroup;
import picocli.CommandLine.Command;

/** {@code troupe certs}: keys and certificates of a cluster. */
@Command(
    name = "certs",
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
public final class CertsCommand extends CommandGroup {}
