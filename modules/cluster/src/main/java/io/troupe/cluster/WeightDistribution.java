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
 * The head's account of who has which weights: the desk writes it, the outlet asks it who takes
 * part in the next transfer, the console shows it. Safe for all threads.
 */
public final class WeightDistribution {
  private static final Logger LOG = LoggerFactory.getLogger(WeightDistribution.class);

  /** Transfers to a node that are remembered. */
  private static final int REMEMBERED = 32;

  private final InstantSource clock;
  private final Map<String, Deque<Transfer>> transfers = new HashMap<>();
  private WeightDistributionState state = WeightDistributionState.EMPTY;

  /**
   * What a node holds.
   *
   * @param version newest it has told of; -1 before the first
   * @param behind versions it lacks
   * @param trouble why it feeds nobody at the moment; empty when it does
   * @param transfers the last to it, oldest first
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
   * @param at when its report came, ms since 1970 by the head's clock
   * @param digest of the weights' manifest, hexadecimal
   * @param fetched bytes that came over the network
   * @param reused bytes taken from the version before
   * @param failure why the weights did not come; empty when they did
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

  /** Takes a report; says what the operator should know. */
  synchronized List<WeightDistributionState.Change> apply(NodeRegistry.ReportTransfer report) {
    List<WeightDistributionState.FailedSource> left =
        report.abandoned().stream()
            .map(
                one ->
                    new WeightDistributionState.FailedSource(
                        one.server(), one.reason(), one.faulty()))
            .toList();
    WeightDistributionState.Updated noted =
        report.failure().isEmpty()
            ? state.received(report.node(), report.version(), left)
            : state.failed(report.node(), report.version(), report.failure(), left);
    state = noted.state();
    if (state.nodes().containsKey(report.node())) {
      remember(report);
    }
    noted
        .changes()
        .forEach(change -> LOG.warn("event=weights_delivery note=\"{}\"", change.text()));
    return noted.changes();
  }

  private void remember(NodeRegistry.ReportTransfer report) {
    Deque<Transfer> last = transfers.computeIfAbsent(report.node(), _ -> new ArrayDeque<>());
    last.addLast(
        new Transfer(
            clock.millis(),
            report.version(),
            report.digest(),
            report.fetched(),
            report.reused(),
            report.millis(),
            report.failure()));
    if (last.size() > REMEMBERED) {
      last.removeFirst();
    }
  }

  /** Notes a publication; says who takes part. */
  public synchronized Relay published(WeightVersion version) {
    state = state.published(version.number());
    Function<Boolean, List<InetSocketAddress>> those =
        onlyDoubtful ->
            state.nodes().values().stream()
                .filter(node -> !onlyDoubtful || node.doubtful())
                .map(node -> HostPort.parse(node.server()).socketAddress())
                .toList();
    return new Relay(those.apply(false), Set.copyOf(those.apply(true)));
  }

  /** What each node holds, by name. */
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
