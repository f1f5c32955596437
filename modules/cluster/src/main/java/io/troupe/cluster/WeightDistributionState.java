package io.troupe.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The weights on every node, and which nodes the next transfer should not rely on. Pure.
 *
 * <p>A node is doubtful when a transfer to it failed, or when another node had to replace it as a
 * source. It still receives every version, but serves no other node until it holds the newest
 * version.
 *
 * @param newest newest published version; -1 before the first
 * @param nodes by name, which is also their order in the relay
 */
record WeightDistributionState(long newest, SortedMap<String, NodeState> nodes) {
  /**
   * The number of versions that a node may miss, because newer ones replaced them too soon, before
   * that is reported.
   */
  private static final int UNREPORTED_MISSES = 3;

  static final WeightDistributionState EMPTY =
      new WeightDistributionState(-1, Collections.emptySortedMap());

  /**
   * A node that takes part in transfers.
   *
   * @param server host and port of its weight server
   * @param held newest version that the node has reported; -1 before the first
   * @param missed number of transfers that failed since
   * @param trouble why the node is doubtful; empty if it is not
   * @param reported whether the operator has seen a report of the trouble
   */
  record NodeState(String server, long held, int missed, String trouble, boolean reported) {
    boolean doubtful() {
      return !trouble.isEmpty();
    }
  }

  /** A change of a node's state that the operator should see. */
  sealed interface Change {
    String node();

    long version();

    /** The change as a sentence. */
    default String text() {
      return switch (this) {
        case Missed(String node, long version, String reason) ->
            "node %s did not receive v%d and waits for the next: %s"
                .formatted(node, version, reason);
        case SlowedOthers(String node, long version, String reason) ->
            "node %s delayed v%d: %s; other nodes use other sources until it has caught up"
                .formatted(node, version, reason);
        case CaughtUp(String node, long version) ->
            "node %s holds the newest weights again, v%d".formatted(node, version);
      };
    }
  }

  /** The node did not receive a version. */
  record Missed(String node, long version, String reason) implements Change {}

  /** The node served a version too slowly or damaged it. */
  record SlowedOthers(String node, long version, String reason) implements Change {}

  /** The node holds the newest version after one of the other two changes. */
  record CaughtUp(String node, long version) implements Change {}

  /** The state after a report, and the changes that the operator should see. */
  record Updated(WeightDistributionState state, List<Change> changes) {
    Updated {
      changes = List.copyOf(changes);
    }
  }

  WeightDistributionState {
    nodes = Collections.unmodifiableSortedMap(new TreeMap<>(nodes));
  }

  private WeightDistributionState with(String name, NodeState node) {
    SortedMap<String, NodeState> all = new TreeMap<>(nodes);
    all.put(name, node);
    return new WeightDistributionState(newest, all);
  }

  /** A node serves weights. Its state under another address is forgotten. */
  WeightDistributionState joined(String name, String server) {
    return Optional.ofNullable(nodes.get(name)).filter(n -> n.server().equals(server)).isPresent()
        ? this
        : with(name, new NodeState(server, -1, 0, "", false));
  }

  /** A node is gone. */
  WeightDistributionState left(String name) {
    SortedMap<String, NodeState> all = new TreeMap<>(nodes);
    all.remove(name);
    return new WeightDistributionState(newest, all);
  }

  /** A version is announced. */
  WeightDistributionState published(long version) {
    return new WeightDistributionState(version, nodes);
  }

  /**
   * A version is in a node's cache; {@code abandoned} are the sources that the node replaced during
   * the transfer.
   */
  Updated received(String name, long version, List<FailedSource> abandoned) {
    NodeState before = nodes.get(name);
    if (before == null) {
      return new Updated(this, List.of());
    }
    boolean caughtUp = version >= newest;
    NodeState after =
        new NodeState(
            before.server(),
            Math.max(before.held(), version),
            0,
            caughtUp ? "" : before.trouble(),
            !caughtUp && before.reported());
    List<Change> changes =
        before.reported() && !after.reported() ? List.of(new CaughtUp(name, version)) : List.of();
    return with(name, after).markDoubtful(version, abandoned, changes);
  }

  /** A transfer failed. */
  Updated failed(String name, long version, String reason, List<FailedSource> abandoned) {
    NodeState before = nodes.get(name);
    if (before == null) {
      return new Updated(this, List.of());
    }
    int missed = before.missed() + 1;
    boolean matters = version >= newest || missed >= UNREPORTED_MISSES;
    NodeState after =
        new NodeState(
            before.server(),
            before.held(),
            missed,
            matters ? "missed v" + version : before.trouble(),
            matters || before.reported());
    List<Change> changes =
        matters && !before.reported() ? List.of(new Missed(name, version, reason)) : List.of();
    return with(name, after).markDoubtful(version, abandoned, changes);
  }

  /**
   * A source that a node replaced.
   *
   * @param server address of the source
   * @param faulty whether the source was at fault, and did not merely lack the weights
   */
  record FailedSource(String server, String reason, boolean faulty) {}

  private Updated markDoubtful(long version, List<FailedSource> abandoned, List<Change> changes) {
    WeightDistributionState state = this;
    List<Change> all = new ArrayList<>(changes);
    for (FailedSource one : version < newest ? List.<FailedSource>of() : abandoned) {
      Optional<String> name = state.nodeAt(one.server());
      if (name.isPresent() && !state.node(name.get()).doubtful()) {
        NodeState at = state.node(name.get());
        String trouble = "delayed v%d: %s".formatted(version, one.reason());
        state =
            state.with(
                name.get(),
                new NodeState(at.server(), at.held(), at.missed(), trouble, one.faulty()));
        if (one.faulty()) {
          all.add(new SlowedOthers(name.get(), version, one.reason()));
        }
      }
    }
    return new Updated(state, all);
  }

  private NodeState node(String name) {
    return Objects.requireNonNull(nodes.get(name));
  }

  private Optional<String> nodeAt(String server) {
    return nodes.entrySet().stream()
        .filter(entry -> entry.getValue().server().equals(server))
        .map(Map.Entry::getKey)
        .findFirst();
  }
}
