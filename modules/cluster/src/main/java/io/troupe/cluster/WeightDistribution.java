package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.weights.NetworkWeightPublisher.Relay;
import io.troupe.core.weights.WeightVersion;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator's record of the weights on every node. The node registry updates it, the
 * publisher asks it for the nodes of the next transfer, and the console shows it. Thread-safe.
 */
public final class WeightDistribution {
  private static final Logger LOG = LoggerFactory.getLogger(WeightDistribution.class);

  /** The number of transfers that are kept per node. */
  private static final int MAX_TRANSFERS = 32;

  private final InstantSource clock;
  private final Map<String, Deque<Transfer>> transfers = new HashMap<>();
  private WeightDistributionState state = WeightDistributionState.EMPTY;

  /**
   * The weights of a node.
   *
   * @param version newest version that the node has reported; -1 before the first
   * @param behind number of versions between that one and the newest
   * @param trouble why other nodes do not fetch from it at present; empty if they may
   * @param transfers the last transfers to the node, oldest first
   */
  public record NodeVersion(
      String node,
      String server,
      long version,
      long behind,
      String trouble,
      List<Transfer> transfers) {
    public NodeVersion {
      transfers = List.copyOf(transfers);
    }
  }

  /**
   * A transfer to a node that has ended.
   *
   * @param at time of the report, in ms since 1970 by the coordinator's clock
   * @param digest of the weights' manifest, hexadecimal
   * @param fetched bytes received over the network
   * @param reused bytes copied from the previous version
   * @param failure why the transfer failed; empty if it succeeded
   */
  public record Transfer(
      long at,
      long version,
      String digest,
      long fetched,
      long reused,
      long millis,
      String failure) {}

  public WeightDistribution(InstantSource clock) {
    this.clock = clock;
  }

  synchronized void joined(String node, String server) {
    state = state.joined(node, server);
  }

  synchronized void left(String node) {
    state = state.left(node);
    transfers.remove(node);
  }

  /** Applies a report and returns the changes that the operator should see. */
  synchronized List<WeightDistributionState.Change> apply(NodeRegistry.ReportTransfer report) {
    List<WeightDistributionState.FailedSource> abandoned =
        report.abandoned().stream()
            .map(
                one ->
                    new WeightDistributionState.FailedSource(
                        one.server(), one.reason(), one.faulty()))
            .toList();
    WeightDistributionState.Updated updated =
        report.failure().isEmpty()
            ? state.received(report.node(), report.version(), abandoned)
            : state.failed(report.node(), report.version(), report.failure(), abandoned);
    state = updated.state();
    if (state.nodes().containsKey(report.node())) {
      remember(report);
    }
    updated
        .changes()
        .forEach(change -> LOG.warn("event=weight_distribution note=\"{}\"", change.text()));
    return updated.changes();
  }

  private void remember(NodeRegistry.ReportTransfer report) {
    Deque<Transfer> kept = transfers.computeIfAbsent(report.node(), _ -> new ArrayDeque<>());
    kept.addLast(
        new Transfer(
            clock.millis(),
            report.version(),
            report.digest(),
            report.fetched(),
            report.reused(),
            report.millis(),
            report.failure()));
    if (kept.size() > MAX_TRANSFERS) {
      kept.removeFirst();
    }
  }

  /** Records a publication and returns the nodes of its transfer. */
  public synchronized Relay published(WeightVersion version) {
    state = state.published(version.number());
    Function<Boolean, List<InetSocketAddress>> servers =
        onlyDoubtful ->
            state.nodes().values().stream()
                .filter(node -> !onlyDoubtful || node.doubtful())
                .map(node -> HostPort.parse(node.server()).socketAddress())
                .toList();
    return new Relay(servers.apply(false), Set.copyOf(servers.apply(true)));
  }

  /** The weights of every node, in the order of names. */
  public synchronized List<NodeVersion> versions() {
    return state.nodes().entrySet().stream()
        .map(
            entry ->
                new NodeVersion(
                    entry.getKey(),
                    entry.getValue().server(),
                    entry.getValue().held(),
                    Math.max(0, state.newest() - Math.max(0, entry.getValue().held())),
                    entry.getValue().trouble(),
                    List.copyOf(transfers.getOrDefault(entry.getKey(), new ArrayDeque<>()))))
        .collect(Collectors.toUnmodifiableList());
  }
}
