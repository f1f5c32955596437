package io.troupe.aws.ec2;

import io.troupe.launch.remote.HostPreparation;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.launch.remote.SshAccess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the wait for hosts, and of their preparation for a launch once EC2 runs them. */
final class PreparationOptions {
  @Option(
      names = "--hosts",
      paramLabel = "FILE",
      description = "Hosts file that is written (NAME.hosts).")
  private @Nullable Path hosts;

  @Option(
      names = "--patience",
      paramLabel = "MINUTES",
      description = "Gives up when EC2, or then the hosts, take longer (${DEFAULT-VALUE}).")
  private int patience = 30;

  @Option(
      names = "--no-prepare",
      description = "Leaves the hosts as EC2 starts them: waits for no ssh, copies nothing.")
  private boolean none;

  @Option(
      names = "--ssh-option",
      paramLabel = "OPTION",
      description = "An option of ssh, such as -oProxyJump=HOST; may be given many times.")
  private List<String> options = new ArrayList<>();

  @Option(
      names = "--ssh",
      paramLabel = "PROGRAM",
      description = "Program that reaches the hosts (${DEFAULT-VALUE}).")
  private String ssh = "ssh";

  @Option(
      names = "--build",
      paramLabel = "DIR",
      description = "A folder with bin/ and lib/ to copy instead of this program.")
  private @Nullable Path build;

  @Option(
      names = "--jdk",
      paramLabel = "DIR",
      description = "JDK that is copied to hosts without one instead of this program's.")
  private Path jdk = Path.of(System.getProperty("java.home"));

  Duration patience() {
    return Duration.ofMinutes(patience);
  }

  Path hosts(String cluster) {
    return (hosts == null ? Path.of(cluster + ".hosts") : hosts).toAbsolutePath();
  }

  /** Waits for the hosts of a hosts file, and copies what they lack. */
  void prepare(Path file, Path knownHosts, Ec2Options command)
      throws RemoteHosts.NotReadyException, IOException, InterruptedException {
    if (!none) {
      HostPreparation.prepare(
          file,
          new SshAccess(ssh, options(knownHosts)),
          new HostPreparation.HostSupplies(Optional.ofNullable(build), jdk),
          new HostPreparation.HostWait(patience(), command.surroundings()));
    }
  }

  /** ssh takes the first value of an option, so those that were given come first. */
  private List<String> options(Path knownHosts) {
    List<String> all = new ArrayList<>(options);
    all.add("-oStrictHostKeyChecking=accept-new");
    all.add("-oUserKnownHostsFile=" + knownHosts);
    return all;
  }

  /** The command that starts a run on the hosts. */
  String next(Path file, Path knownHosts) {
    return "troupe launch up FILE --hosts %s%s %s"
        .formatted(
            file,
            ssh.equals("ssh") ? "" : " --ssh " + ssh,
            options(knownHosts).stream()
                .map(each -> "--ssh-option=" + each)
                .collect(Collectors.joining(" ")));
  }
}
