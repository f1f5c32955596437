package io.troupe.cli.certs;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.net.tls.CertificateAuthority;
import io.troupe.net.tls.HostKeys;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe certs issue}: makes key and certificate of a host. */
@Command(
    name = "issue",
    description = "Makes key and certificate of a host, in a folder to copy to it.")
final class CertsIssueCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "Of the authority.")
  private Path folder = Path.of("certs");

  @Parameters(index = "1", paramLabel = "HOST", description = "Name of the host's folder.")
  private String host = "";

  @Option(
      names = "--address",
      paramLabel = "IP-OR-NAME",
      description =
          "What others reach the host by; may be given many times (default: the host's name).")
  private List<String> addresses = new ArrayList<>();

  @Option(
      names = "--days",
      paramLabel = "N",
      description = "How long it is valid (default: ${DEFAULT-VALUE}).")
  private int days = 365;

  @Override
  public Integer call() throws IOException {
    CommandLine command = commandLine();
    try {
      HostKeys keys =
          CertificateAuthority.open(folder)
              .issue(host, addresses.isEmpty() ? List.of(host) : addresses, days);
      PrintWriter out = command.getOut();
      out.println(
          "made    %s, good for %s until %s"
              .formatted(keys.folder(), String.join(", ", keys.addresses()), keys.until()));
      out.println("next    copy that folder to the host, readable by its user only");
      out.flush();
      return ExitCode.OK.code();
    } catch (IllegalArgumentException wrong) {
      throw refused(String.valueOf(wrong.getMessage()));
    }
  }
}
