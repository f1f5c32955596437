package io.troupe.cli.certs;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.net.tls.CertificateAuthority;
import io.troupe.net.tls.HostKeys;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code troupe certs list}: what certificates there are, and which end soon. */
@Command(
    name = "list",
    description = {
      "Lists the certificates of an authority.",
      "Exit code 1 if one has ended or ends within 30 days."
    })
final class CertsListCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "Of the authority.")
  private Path folder = Path.of("certs");

  @Override
  public Integer call() throws IOException {
    PrintWriter out = out();
    Instant now = Instant.now();
    boolean fine = true;
    for (Path host : CertificateAuthority.open(folder).hosts()) {
      HostKeys keys = HostKeys.in(host);
      out.println(
          "%-20s until %s   %s"
              .formatted(host.getFileName(), keys.until(), String.join(", ", keys.addresses())));
      if (keys.warning(now).isPresent()) {
        out.println("  warning: " + keys.warning(now).get());
        fine = false;
      }
    }
    out.flush();
    return (fine ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }
}
