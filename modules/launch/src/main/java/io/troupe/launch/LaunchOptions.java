package io.troupe.launch;

import static java.util.stream.Collectors.joining;

import io.troupe.launch.remote.RemoteFolder;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.launch.remote.SshClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options of every command that works on the hosts of a cluster. */
final class LaunchOptions {
  private static final String SSH = "ssh";

  @Option(
      names = "--hosts",
      paramLabel = "FILE",
      required = true,
      description = "One host a line, [USER@]ADDRESS [SSH-PORT]; the first is the coordinator's.")
  private Path hosts = Path.of("hosts.txt");

  @Option(
      names = "--remote",
      paramLabel = "DIR",
      description =
          "Folder on every host for builds, keys, logs and runs, empty or of a launch; {host} is"
              + " its address (${DEFAULT-VALUE}).")
  private String folder = RemoteFolder.DEFAULT;

  @Option(
      names = "--ssh-option",
      paramLabel = "OPTION",
      description = "An option of ssh, such as -oIdentityFile=KEY; may be given many times.")
  private List<String> options = new ArrayList<>();

  @Option(
      names = "--ssh",
      paramLabel = "PROGRAM",
      description = "ssh, or one in its place (${DEFAULT-VALUE}).")
  private String program = SSH;

  @Option(names = "--dry-run", description = "Look at the hosts and say what would be done there.")
  boolean dryRun;

  @Option(
      names = "--json",
      description = "One JSON object on standard output; up and resume then follow no run.")
  private boolean json;

  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private CommandLine.Model.@Nullable CommandSpec spec;

  /** Returns the report of the command. */
  LaunchReport report() {
    CommandLine command = Objects.requireNonNull(spec).commandLine();
    return new LaunchReport(json, command.getOut(), command.getErr());
  }

  /** The hosts named, and how to reach them. */
  RemoteHosts fleet(LaunchReport report) throws IOException {
    Path sockets = Files.createTempDirectory("troupe-ssh");
    return new RemoteHosts(
        RemoteHost.read(hosts),
        new SshClient(program, options, sockets),
        new RemoteFolder(folder),
        Clock.systemUTC(),
        report::say);
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
    if (!program.equals(SSH)) {
      words.addAll(List.of("--ssh", program));
    }
    options.forEach(option -> words.addAll(List.of("--ssh-option", option)));
    return "troupe launch %s %s"
        .formatted(verb, words.stream().map(LaunchOptions::quoted).collect(joining(" ")));
  }

  /** Returns a word that a shell reads back as it is. */
  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=@%+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
