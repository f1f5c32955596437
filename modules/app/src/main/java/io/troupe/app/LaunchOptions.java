package io.troupe.app;

import io.troupe.app.launch.Fleet;
import io.troupe.app.launch.RemoteHost;
import io.troupe.app.launch.Ssh;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of every command that works on the hosts of a cluster. */
final class LaunchOptions {
  @Option(
      names = "--hosts",
      paramLabel = "FILE",
      required = true,
      description = "One host a line, [USER@]ADDRESS [SSH-PORT]; the first is the head's.")
  private Path hosts = Path.of("hosts.txt");

  @Option(
      names = "--remote",
      paramLabel = "DIR",
      defaultValue = "/tmp/troupe",
      description = "Folder on every host for build, logs and process files (${DEFAULT-VALUE}).")
  private String folder = "/tmp/troupe";

  @Option(
      names = "--ssh-option",
      paramLabel = "OPTION",
      description = "An option of ssh, such as -oIdentityFile=KEY; may be given many times.")
  private List<String> options = new ArrayList<>();

  /** The hosts named, and how to reach them. */
  Fleet fleet(PrintWriter out) throws IOException {
    Path sockets = Files.createTempDirectory("troupe-ssh");
    sockets.toFile().deleteOnExit();
    return new Fleet(
        RemoteHost.read(hosts),
        new Ssh(options, sockets),
        folder,
        Clock.systemUTC(),
        line -> {
          out.println(line);
          out.flush();
        });
  }

  /** How to say the same again. */
  String again() {
    StringBuilder text = new StringBuilder("--hosts " + hosts);
    if (!folder.equals("/tmp/troupe")) {
      text.append(" --remote ").append(folder);
    }
    options.forEach(option -> text.append(" --ssh-option ").append(option));
    return text.toString();
  }

  String folder() {
    return folder;
  }
}
