package io.troupe.app;

import io.troupe.cluster.HostPort;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of every command whose process talks to a cluster. */
final class ClusterOptions {
  @Option(
      names = "--address",
      paramLabel = "HOST",
      defaultValue = "127.0.0.1",
      description = "Name or address of this host, as the others reach it (${DEFAULT-VALUE}).")
  private String address = "127.0.0.1";

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "0",
      description = "Port to listen on; 0 takes a free one (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--seed",
      paramLabel = "HOST:PORT",
      split = ",",
      description = "A head or node that is there already; may be given many times.")
  private List<String> seeds = new ArrayList<>();

  @Option(
      names = "--allow-plain-tcp",
      description = "Listen beyond the loopback interface without TLS.")
  private boolean plainAllowed;

  HostPort address() {
    return new HostPort(address, port);
  }

  List<HostPort> seeds() {
    return seeds.stream().map(HostPort::parse).toList();
  }

  boolean plainAllowed() {
    return plainAllowed;
  }

  /** The same for a process started by this one, whose address is known by now. */
  List<String> forChild(HostPort self) {
    List<String> options = new ArrayList<>(List.of("--address", address));
    options.addAll(List.of("--seed", self.toString()));
    seeds.forEach(seed -> options.addAll(List.of("--seed", seed)));
    if (plainAllowed) {
      options.add("--allow-plain-tcp");
    }
    return options;
  }
}
