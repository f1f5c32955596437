package io.troupe.cli.certs;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.net.tls.CertificateAuthority;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe certs init}: makes the authority of a cluster. */
@Command(
    name = "init",
    description = "Makes the authority of a cluster. Its key stays here; hosts never need it.")
final class CertsInitCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "For the authority; made if absent.")
  private Path folder = Path.of("certs");

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      description = "Name in its certificate (default: ${DEFAULT-VALUE}).")
  private String cluster = "troupe";

  @Override
  public Integer call() throws IOException {
    CommandLine command = commandLine();
    try {
      CertificateAuthority _ = CertificateAuthority.init(folder, cluster);
    } catch (IllegalArgumentException wrong) {
      throw refused(String.valueOf(wrong.getMessage()));
    }
    PrintWriter out = command.getOut();
    out.println(
        "made    " + folder.resolve("ca") + ", readable by you only; keep it off the hosts");
    out.println("next    troupe certs issue %s HOST --address IP-OR-NAME".formatted(folder));
    out.flush();
    return ExitCode.OK.code();
  }
}
