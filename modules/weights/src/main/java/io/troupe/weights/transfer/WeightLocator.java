package io.troupe.weights.transfer;

import static io.troupe.core.Require.require;

import io.troupe.base.net.HostPort;
import io.troupe.core.weights.WeightVersion;
import io.troupe.weights.cache.WeightRef;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The place of published weights, in one line of text, for a message: {@code
 * DIGEST/BYTES/PUBLISHER/NODE,NODE,…/DOUBTFUL,…}.
 *
 * @param ref digest and size of the weights
 * @param publisher the server that has them
 * @param nodes the servers of the nodes that want them, in the order in which they relay
 * @param doubtful nodes that held up the last transfer
 */
public record WeightLocator(
    WeightRef ref,
    InetSocketAddress publisher,
    List<InetSocketAddress> nodes,
    Set<InetSocketAddress> doubtful) {
  private static final int PARTS = 5;

  public WeightLocator {
    nodes = List.copyOf(nodes);
    doubtful = Set.copyOf(doubtful);
  }

  /** Writes the locator as one line of text. */
  public String format() {
    return String.join(
        "/",
        ref.digest(),
        Long.toString(ref.bytes()),
        HostPort.of(publisher).toString(),
        nodes.stream().map(one -> HostPort.of(one).toString()).collect(Collectors.joining(",")),
        doubtful.stream()
            .map(one -> HostPort.of(one).toString())
            .sorted()
            .collect(Collectors.joining(",")));
  }

  /** Reads what {@link #format} wrote. */
  public static WeightLocator parse(WeightVersion version, String text) {
    String[] parts = text.split("/", -1);
    require(parts.length == PARTS, "'%s' is no place of published weights", text);
    return new WeightLocator(
        new WeightRef(version, parts[0], Long.parseLong(parts[1])),
        HostPort.parse(parts[2]).socketAddress(),
        addresses(parts[3]),
        Set.copyOf(addresses(parts[4])));
  }

  private static List<InetSocketAddress> addresses(String text) {
    return Arrays.stream(text.split(",", -1))
        .filter(address -> !address.isEmpty())
        .map(one -> HostPort.parse(one).socketAddress())
        .toList();
  }

  /**
   * Returns the servers that a node asks, in order.
   *
   * @param self the node's own server; a server that is not among the nodes asks the publisher
   */
  public List<InetSocketAddress> sourcesOf(Optional<InetSocketAddress> self) {
    List<InetSocketAddress> relay = nodes.stream().filter(n -> !n.equals(publisher)).toList();
    return self.map(node -> RelayPlan.of(publisher, relay, doubtful, 1).of(node))
        .filter(sources -> !sources.isEmpty())
        .orElse(List.of(publisher));
  }
}
