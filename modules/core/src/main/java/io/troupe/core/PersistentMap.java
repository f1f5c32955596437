package io.troupe.core;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A sorted map that never changes: {@link #with} and {@link #without} make another one in O(log n),
 * which shares all but O(log n) of its nodes with this one. A state that is a value can so be large
 * and still change with every event.
 *
 * <p>An AVL tree: Adelson-Velsky and Landis, "An algorithm for the organization of information",
 * 1962.
 */
@SuppressWarnings("JdkObsolete") // what RunState promises is a SortedMap
public final class PersistentMap<K extends Comparable<K>, V> extends AbstractMap<K, V>
    implements SortedMap<K, V> {
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

  /** The same entries; the map itself if it is one of these. */
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

  /**
   * With many entries, in place of those of their keys: where it is cheaper, one pass over all
   * entries in place of a path to each.
   */
  public PersistentMap<K, V> withAll(SortedMap<K, V> entries) {
    if (!deservesPass(entries.size())) {
      PersistentMap<K, V> next = this;
      for (Map.Entry<K, V> entry : entries.entrySet()) {
        next = next.with(entry.getKey(), entry.getValue());
      }
      return next;
    }
    List<Node<K, V>> merged = new ArrayList<>(size() + entries.size());
    InOrder<K, V> known = new InOrder<>(root);
    for (Map.Entry<K, V> entry : entries.entrySet()) {
      while (known.hasNext() && known.peek().key().compareTo(entry.getKey()) < 0) {
        merged.add(known.pop());
      }
      if (known.hasNext() && known.peek().key().compareTo(entry.getKey()) == 0) {
        known.pop();
      }
      merged.add(node(new Empty<>(), entry.getKey(), entry.getValue(), new Empty<>()));
    }
    while (known.hasNext()) {
      merged.add(known.pop());
    }
    return new PersistentMap<>(built(merged, 0, merged.size()));
  }

  /** Without the entries of many keys, of which there may be none. */
  public PersistentMap<K, V> withoutAll(Collection<K> keys) {
    if (!deservesPass(keys.size())) {
      PersistentMap<K, V> next = this;
      for (K key : keys) {
        next = next.without(key);
      }
      return next;
    }
    Set<K> gone = new HashSet<>(keys);
    List<Node<K, V>> rest = new ArrayList<>(size());
    for (InOrder<K, V> known = new InOrder<>(root); known.hasNext(); ) {
      Node<K, V> node = known.pop();
      if (!gone.contains(node.key())) {
        rest.add(node);
      }
    }
    return new PersistentMap<>(built(rest, 0, rest.size()));
  }

  /** A path to each of so many keys makes a node for each level of the tree. */
  private boolean deservesPass(int keys) {
    return (long) keys * Math.max(1, root.height()) > (long) size() + keys;
  }

  /** A tree of the keys and values of nodes in ascending order, as shallow as can be. */
  private static <K, V> Tree<K, V> built(List<Node<K, V>> nodes, int from, int to) {
    if (from == to) {
      return new Empty<>();
    }
    int middle = (from + to) >>> 1;
    Node<K, V> at = nodes.get(middle);
    return node(built(nodes, from, middle), at.key(), at.value(), built(nodes, middle + 1, to));
  }

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

  /** Of the tree, for its bound. */
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

  /** Both sides of a node that is gone, under the least of the right one. */
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
  public boolean containsKey(@Nullable Object key) {
    return get(key) != null;
  }

  /** Null for what is no key of this map, as the interface demands. */
  @Override
  @SuppressWarnings("unchecked") // a key of another class does not compare: ClassCastException
  public @Nullable V get(@Nullable Object key) {
    return key == null ? null : find((K) key).orElse(null);
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
      Node<K, V> node = pop();
      return Map.entry(node.key(), node.value());
    }

    /** The node that is next, which must exist. */
    Node<K, V> peek() {
      return path.element();
    }

    Node<K, V> pop() {
      Node<K, V> node = path.pop();
      descend(node.right());
      return node;
    }
  }

  @Override
  public @Nullable Comparator<? super K> comparator() {
    return null;
  }

  @Override
  public K firstKey() {
    return entrySet().iterator().next().getKey();
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

  /** A copy, as are the two below: nothing that is fast needs them. */
  @Override
  public SortedMap<K, V> subMap(K from, K to) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(this).subMap(from, to));
  }

  @Override
  public SortedMap<K, V> headMap(K to) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(this).headMap(to));
  }

  @Override
  public SortedMap<K, V> tailMap(K from) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(this).tailMap(from));
  }
}
