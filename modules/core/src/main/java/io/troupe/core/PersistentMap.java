package io.troupe.core;

import java.util.AbstractSet;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;

/**
 * A sorted map that never changes: {@link #with} and {@link #without} make another one in O(log n),
 * which shares all but O(log n) of its nodes with this one. A state that is a value can so be large
 * and still change with every event.
 *
 * <p>An AVL tree: Adelson-Velsky and Landis, "An algorithm for the organization of information",
 * 1962.
 */
public final class PersistentMap<K extends Comparable<K>, V> extends ImmutableSortedMap<K, V> {
  private sealed interface Tree<K, V> {
    int height();

    int size();
  }

  private record Empty<K, V>() implements Tree<K, V> {
    @Override
    public int height() {
      return 0;
    }

    @Override
    public int size() {
      return 0;
    }
  }

  private record Node<K, V>(Tree<K, V> left, K key, V value, Tree<K, V> right, int height, int size)
      implements Tree<K, V> {}

  private final Tree<K, V> root;

  private PersistentMap(Tree<K, V> root) {
    this.root = root;
  }

  public static <K extends Comparable<K>, V> PersistentMap<K, V> empty() {
    return new PersistentMap<K, V>(new Empty<>());
  }

  /** Returns a map with the same entries; the given map itself if it is a {@code PersistentMap}. */
  public static <K extends Comparable<K>, V> PersistentMap<K, V> of(Map<K, V> entries) {
    if (entries instanceof PersistentMap<K, V> same) {
      return same;
    }
    PersistentMap<K, V> all = empty();
    for (Map.Entry<K, V> entry : entries.entrySet()) {
      all = all.with(entry.getKey(), entry.getValue());
    }
    return all;
  }

  /** With an entry, in place of the one of this key. */
  public PersistentMap<K, V> with(K key, V value) {
    return new PersistentMap<>(put(root, key, value));
  }

  /** Without the entry of a key, if there is one. */
  public PersistentMap<K, V> without(K key) {
    Tree<K, V> rest = remove(root, key);
    return rest.size() < root.size() ? new PersistentMap<>(rest) : this;
  }

  @Override
  public Optional<V> find(K key) {
    Tree<K, V> tree = root;
    while (tree instanceof Node<K, V>(var left, var at, var value, var right, int _, int _)) {
      int order = key.compareTo(at);
      if (order == 0) {
        return Optional.of(value);
      }
      tree = order < 0 ? left : right;
    }
    return Optional.empty();
  }

  /** Returns the height of the tree, by which a test checks its bound. */
  int height() {
    return root.height();
  }

  private static <K extends Comparable<K>, V> Tree<K, V> put(Tree<K, V> tree, K key, V value) {
    return switch (tree) {
      case Empty<K, V> empty -> new Node<>(empty, key, value, empty, 1, 1);
      case Node<K, V>(var left, var at, var old, var right, int height, int size) -> {
        int order = key.compareTo(at);
        if (order == 0) {
          yield new Node<>(left, key, value, right, height, size);
        }
        yield order < 0
            ? balanced(put(left, key, value), at, old, right)
            : balanced(left, at, old, put(right, key, value));
      }
    };
  }

  private static <K extends Comparable<K>, V> Tree<K, V> remove(Tree<K, V> tree, K key) {
    return switch (tree) {
      case Empty<K, V> empty -> empty;
      case Node<K, V>(var left, var at, var value, var right, int _, int _) -> {
        int order = key.compareTo(at);
        if (order < 0) {
          yield balanced(remove(left, key), at, value, right);
        }
        if (order > 0) {
          yield balanced(left, at, value, remove(right, key));
        }
        yield right instanceof Node<K, V> after ? joined(left, after) : left;
      }
    };
  }

  /** Joins both sides of a node that is gone, under the least entry of the right side. */
  private static <K extends Comparable<K>, V> Tree<K, V> joined(Tree<K, V> left, Node<K, V> right) {
    Node<K, V> least = right;
    while (least.left() instanceof Node<K, V> lesser) {
      least = lesser;
    }
    return balanced(left, least.key(), least.value(), remove(right, least.key()));
  }

  /** A node over two sides whose heights differ by 2 at most; afterwards they differ by 1. */
  private static <K, V> Tree<K, V> balanced(Tree<K, V> left, K key, V value, Tree<K, V> right) {
    int lean = left.height() - right.height();
    if (lean > 1 && left instanceof Node<K, V> tall) {
      if (tall.right() instanceof Node<K, V> inner && inner.height() > tall.left().height()) {
        return node(
            node(tall.left(), tall.key(), tall.value(), inner.left()),
            inner.key(),
            inner.value(),
            node(inner.right(), key, value, right));
      }
      return node(tall.left(), tall.key(), tall.value(), node(tall.right(), key, value, right));
    }
    if (lean < -1 && right instanceof Node<K, V> tall) {
      if (tall.left() instanceof Node<K, V> inner && inner.height() > tall.right().height()) {
        return node(
            node(left, key, value, inner.left()),
            inner.key(),
            inner.value(),
            node(inner.right(), tall.key(), tall.value(), tall.right()));
      }
      return node(node(left, key, value, tall.left()), tall.key(), tall.value(), tall.right());
    }
    return node(left, key, value, right);
  }

  private static <K, V> Node<K, V> node(Tree<K, V> left, K key, V value, Tree<K, V> right) {
    return new Node<>(
        left,
        key,
        value,
        right,
        1 + Math.max(left.height(), right.height()),
        1 + left.size() + right.size());
  }

  @Override
  public int size() {
    return root.size();
  }

  @Override
  public Set<Map.Entry<K, V>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Map.Entry<K, V>> iterator() {
        return new InOrder<>(root);
      }

      @Override
      public int size() {
        return root.size();
      }
    };
  }

  private static final class InOrder<K, V> implements Iterator<Map.Entry<K, V>> {
    private final Deque<Node<K, V>> path = new ArrayDeque<>();

    InOrder(Tree<K, V> root) {
      descend(root);
    }

    private void descend(Tree<K, V> from) {
      Tree<K, V> tree = from;
      while (tree instanceof Node<K, V> node) {
        path.push(node);
        tree = node.left();
      }
    }

    @Override
    public boolean hasNext() {
      return !path.isEmpty();
    }

    @Override
    public Map.Entry<K, V> next() {
      if (path.isEmpty()) {
        throw new NoSuchElementException();
      }
      Node<K, V> node = path.pop();
      descend(node.right());
      return Map.entry(node.key(), node.value());
    }
  }

  @Override
  public K lastKey() {
    Tree<K, V> tree = root;
    Optional<K> last = Optional.empty();
    while (tree instanceof Node<K, V> node) {
      last = Optional.of(node.key());
      tree = node.right();
    }
    return last.orElseThrow();
  }
}
