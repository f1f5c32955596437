package io.troupe.cli.node;

import io.troupe.base.net.HostPort;
import io.troupe.net.link.ListenAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of every command whose process talks to a cluster. */
public final class ClusterOptions extends PeerOptions {
  @Option(
      names = "--seed",
      paramLabel = "HOST:PORT",
      split = ",",
      description = "A coordinator or node that is there already; may be given many times.")
  private List<String> seeds = new ArrayList<>();

  @Option(
      names = "--ranks-port",
      paramLabel = "N",
      description =
          "Port of trainer ranks on nodes: a coordinator hears them there, and those of a node"
              + " listen there and at the next ones; 0 takes free ones (${DEFAULT-VALUE}).")
  private int ranksPort;

  public List<HostPort> seeds() {
    return seeds.stream().map(HostPort::parse).toList();
  }

  /**
   * Returns the address and the connections of trainer ranks: of this process, or among each other.
   * To be asked after {@link #settings}.
   */
  public ListenAddress ranks() throws IOException {
    return weights().withAddress(new HostPort(host(), ranksPort));
  }

  /**
   * Returns the options of a coordinator that a user starts by hand on this host, without seeds and
   * without options that have their default.
   */
  public List<String> forCoordinator() {
    List<String> options = new ArrayList<>(List.of("--cluster"));
    if (!isDefaultHost()) {
      options.addAll(List.of("--address", host()));
    }
    addPort(options, "--port", address().port());
    addPort(options, "--weights-port", weightsPort());
    addPort(options, "--ranks-port", ranksPort);
    addSecurity(options);
    return options;
  }

  private static void addPort(List<String> options, String name, int number) {
    if (number > 0) {
      options.addAll(List.of(name, Integer.toString(number)));
    }
  }

  private void addSecurity(List<String> options) {
    keys()
        .ifPresent(folder -> options.addAll(List.of("--tls", folder.toAbsolutePath().toString())));
    if (plainAllowed()) {
      options.add("--allow-plain-tcp");
    }
  }

  /** Returns the options for a child process; the address of this process is known. */
  public List<String> forChild(HostPort self) {
    List<String> options = new ArrayList<>(List.of("--address", host()));
    options.addAll(List.of("--seed", self.toString()));
    seeds.forEach(seed -> options.addAll(List.of("--seed", seed)));
    addSecurity(options);
    return options;
  }
}
