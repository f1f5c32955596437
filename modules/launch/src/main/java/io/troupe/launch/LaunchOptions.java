package io.troupe.launch;

import static java.util.stream.Collectors.joining;

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
      description = "One host a line, [USER@]ADDRESS [SSH-PORT]; the first is the coordinator's.")
  private Path hosts = Path.of("hosts.txt");

  @Option(
      names = "--remote",
      paramLabel = "DIR",
      defaultValue = RemoteFolder.DEFAULT,
      description =
          "Folder on every host for builds, keys, logs and runs, empty or of a launch; {host} is"
              + " the its address (${DEFAULT-VALUE}).")
  private String folder = RemoteFolder.DEFAULT;

  @Option(
      names = "--ssh-option",
      paramLabel = "OPTION",
      description = "An option of ssh, such as -oIdentityFile=KEY; may be given many times.")
  private List<String> options = new ArrayList<>();

  /** The hosts named, and how to reach them. */
  RemoteHosts fleet(PrintWriter out) throws IOException {
    Path sockets = Files.createTempDirectory("troupe-ssh");
    return new RemoteHosts(
        RemoteHost.read(hosts),
        new SshClient(options, sockets),
        new RemoteFolder(folder),
        Clock.systemUTC(),
        line -> {
          out.println(line);
          out.flush();
        });
  }

  /**
   * The command that does something else to the same hosts.
   *
   * @param verb of {@code troupe launch}, with the words before the options
   */
  String command(String verb) {
    List<String> words = new ArrayList<>(List.of("--hosts", hosts.toString()));
    if (!folder.equals(RemoteFolder.DEFAULT)) {
      words.addAll(List.of("--remote", folder));
    }
    options.forEach(option -> words.addAll(List.of("--ssh-option", option)));
    return "troupe launch %s %s"
        .formatted(verb, words.stream().map(LaunchOptions::quoted).collect(joining(" ")));
  }

  /** As a shell reads it back. */
  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=@%+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
