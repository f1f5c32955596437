package io.troupe.cli.node;

import io.troupe.base.net.HostPort;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of a command that works by itself, and that may have a cluster work for it. */
public final class ClusterClientOptions extends PeerOptions {
  @Option(
      names = "--cluster",
      paramLabel = "HOST:PORT",
      split = ",",
      description =
          "A coordinator or node of the cluster that works for the run: its rollout workers sample;"
              + " may be given many times. --address, --port, --tls and --allow-plain-tcp are as of"
              + " troupe node.")
  private List<String> members = new ArrayList<>();

  /** Members of the cluster; none where no cluster is asked. */
  public List<HostPort> members() {
    return members.stream().map(HostPort::parse).toList();
  }
}
