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
 * Who has which weights, and whom the next transfer should not rely on. Pure.
 *
 * <p>A node is in doubt when a transfer to it failed, or when another node had to leave it as a
 * source. It still gets every version, but feeds nobody, until it holds one that is the newest.
 *
 * @param newest version that was published; -1 before the first
 * @param nodes by name, which is also the order in which they relay
 */
record WeightDistributionState(long newest, SortedMap<String, NodeState> nodes) {
  /** Versions a node may miss because they were replaced too soon, before that is worth a word. */
  private static final int UNREPORTED_MISSES = 3;

  static final WeightDistributionState EMPTY =
      new WeightDistributionState(-1, Collections.emptySortedMap());

  /**
   * A node that takes part.
   *
   * @param server of its weights, host and port
   * @param held newest version it has told of; -1 before the first
   * @param missed transfers that failed since
   * @param trouble why it is in doubt; empty when it is not
   * @param reported whether the operator was told so
   */
  record NodeState(String server, long held, int missed, String trouble, boolean reported) {
    boolean doubtful() {
      return !trouble.isEmpty();
    }
  }

  /** A node's state has changed, and the operator should know of it. */
  sealed interface Change {
    String node();

    long version();

    /** In a sentence. */
    default String text() {
      return switch (this) {
        case Missed(String node, long version, String reason) ->
            "node %s did not get v%d and waits for the next: %s".formatted(node, version, reason);
        case SlowedOthers(String node, long version, String reason) ->
            "node %s held up v%d: %s; others take weights elsewhere until it has caught up"
                .formatted(node, version, reason);
        case CaughtUp(String node, long version) ->
            "node %s holds the newest weights again, v%d".formatted(node, version);
      };
    }
  }

  /** It did not get a version. */
  record Missed(String node, long version, String reason) implements Change {}

  /** It gave a version too slowly, or damaged. */
  record SlowedOthers(String node, long version, String reason) implements Change {}

  /** It has the newest, after one of the two. */
  record CaughtUp(String node, long version) implements Change {}

  /** What follows from a report, and what the operator should know of it. */
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

  /** A node serves weights; what it held under another address is forgotten. */
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

  /** A version is in a node's cache; {@code left} are the servers it had to leave on the way. */
  Updated received(String name, long version, List<FailedSource> left) {
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
    return with(name, after).markDoubtful(version, left, changes);
  }

  /** A transfer failed. */
  Updated failed(String name, long version, String reason, List<FailedSource> left) {
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
    return with(name, after).markDoubtful(version, left, changes);
  }

  /**
   * A source that was left.
   *
   * @param server its address
   * @param faulty whether it was at fault, and did not only lack them
   */
  record FailedSource(String server, String reason, boolean faulty) {}

  private Updated markDoubtful(long version, List<FailedSource> left, List<Change> changes) {
    WeightDistributionState book = this;
    List<Change> all = new ArrayList<>(changes);
    for (FailedSource one : version < newest ? List.<FailedSource>of() : left) {
      Optional<String> name = book.nodeAt(one.server());
      if (name.isPresent() && !book.node(name.get()).doubtful()) {
        NodeState at = book.node(name.get());
        String trouble = "held up v%d: %s".formatted(version, one.reason());
        book =
            book.with(
                name.get(),
                new NodeState(at.server(), at.held(), at.missed(), trouble, one.faulty()));
        if (one.faulty()) {
          all.add(new SlowedOthers(name.get(), version, one.reason()));
        }
      }
    }
    return new Updated(book, all);
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
