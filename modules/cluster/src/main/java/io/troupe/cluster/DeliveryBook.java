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
record DeliveryBook(long newest, SortedMap<String, Node> nodes) {
  /** Versions a node may miss because they were replaced too soon, before that is worth a word. */
  private static final int MISSED_QUIETLY = 3;

  static final DeliveryBook EMPTY = new DeliveryBook(-1, Collections.emptySortedMap());

  /**
   * A node that takes part.
   *
   * @param server of its weights, host and port
   * @param held newest version it has told of; -1 before the first
   * @param missed transfers that failed since
   * @param trouble why it is in doubt; empty when it is not
   * @param spoken whether the operator was told so
   */
  record Node(String server, long held, int missed, String trouble, boolean spoken) {
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
        case HeldUp(String node, long version, String reason) ->
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
  record HeldUp(String node, long version, String reason) implements Change {}

  /** It has the newest, after one of the two. */
  record CaughtUp(String node, long version) implements Change {}

  /** What follows from a report, and what the operator should know of it. */
  record Noted(DeliveryBook book, List<Change> changes) {
    Noted {
      changes = List.copyOf(changes);
    }
  }

  DeliveryBook {
    nodes = Collections.unmodifiableSortedMap(new TreeMap<>(nodes));
  }

  private DeliveryBook with(String name, Node node) {
    SortedMap<String, Node> all = new TreeMap<>(nodes);
    all.put(name, node);
    return new DeliveryBook(newest, all);
  }

  /** A node serves weights; what it held under another address is forgotten. */
  DeliveryBook joined(String name, String server) {
    return Optional.ofNullable(nodes.get(name)).filter(n -> n.server().equals(server)).isPresent()
        ? this
        : with(name, new Node(server, -1, 0, "", false));
  }

  /** A node is gone. */
  DeliveryBook left(String name) {
    SortedMap<String, Node> all = new TreeMap<>(nodes);
    all.remove(name);
    return new DeliveryBook(newest, all);
  }

  /** A version is announced. */
  DeliveryBook published(long version) {
    return new DeliveryBook(version, nodes);
  }

  /** A version is in a node's cache; {@code left} are the servers it had to leave on the way. */
  Noted brought(String name, long version, List<Left> left) {
    Node before = nodes.get(name);
    if (before == null) {
      return new Noted(this, List.of());
    }
    boolean caughtUp = version >= newest;
    Node after =
        new Node(
            before.server(),
            Math.max(before.held(), version),
            0,
            caughtUp ? "" : before.trouble(),
            !caughtUp && before.spoken());
    List<Change> changes =
        before.spoken() && !after.spoken() ? List.of(new CaughtUp(name, version)) : List.of();
    return with(name, after).blamed(version, left, changes);
  }

  /** A transfer failed. */
  Noted failed(String name, long version, String reason, List<Left> left) {
    Node before = nodes.get(name);
    if (before == null) {
      return new Noted(this, List.of());
    }
    int missed = before.missed() + 1;
    boolean matters = version >= newest || missed >= MISSED_QUIETLY;
    Node after =
        new Node(
            before.server(),
            before.held(),
            missed,
            matters ? "missed v" + version : before.trouble(),
            matters || before.spoken());
    List<Change> changes =
        matters && !before.spoken() ? List.of(new Missed(name, version, reason)) : List.of();
    return with(name, after).blamed(version, left, changes);
  }

  /**
   * A source that was left.
   *
   * @param server its address
   * @param faulty whether it was at fault, and did not only lack them
   */
  record Left(String server, String reason, boolean faulty) {}

  private Noted blamed(long version, List<Left> left, List<Change> changes) {
    DeliveryBook book = this;
    List<Change> all = new ArrayList<>(changes);
    for (Left one : version < newest ? List.<Left>of() : left) {
      Optional<String> name = book.at(one.server());
      if (name.isPresent() && !book.node(name.get()).doubtful()) {
        Node at = book.node(name.get());
        String trouble = "held up v%d: %s".formatted(version, one.reason());
        book =
            book.with(
                name.get(), new Node(at.server(), at.held(), at.missed(), trouble, one.faulty()));
        if (one.faulty()) {
          all.add(new HeldUp(name.get(), version, one.reason()));
        }
      }
    }
    return new Noted(book, all);
  }

  private Node node(String name) {
    return Objects.requireNonNull(nodes.get(name));
  }

  private Optional<String> at(String server) {
    return nodes.entrySet().stream()
        .filter(entry -> entry.getValue().server().equals(server))
        .map(Map.Entry::getKey)
        .findFirst();
  }
}
