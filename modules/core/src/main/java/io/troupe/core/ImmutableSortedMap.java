package io.troupe.core;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A sorted map that never changes, put together from how a key is found and how all entries are
 * gone through.
 *
 * @param <K> the keys
 * @param <V> the values
 */
@SuppressWarnings("JdkObsolete") // what records of the core promise is a SortedMap
public abstract class ImmutableSortedMap<K extends Comparable<K>, V> extends AbstractMap<K, V>
    implements SortedMap<K, V> {
  /** The value of a key. */
  public abstract Optional<V> find(K key);

  /** The entries in ascending order of their keys. */
  @Override
  public abstract Set<Map.Entry<K, V>> entrySet();

  @Override
  public abstract int size();

  @Override
  public final boolean containsKey(@Nullable Object key) {
    return get(key) != null;
  }

  /** Null for what is no key of this map, as the interface demands. */
  @Override
  @SuppressWarnings("unchecked") // a key of another class does not compare: ClassCastException
  public final @Nullable V get(@Nullable Object key) {
    return key == null ? null : find((K) key).orElse(null);
  }

  @Override
  public final @Nullable Comparator<? super K> comparator() {
    return null;
  }

  @Override
  public final K firstKey() {
    return entrySet().iterator().next().getKey();
  }

  /** A copy, as are the two below: nothing that is fast needs them. */
  @Override
  public final SortedMap<K, V> subMap(K from, K to) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(this).subMap(from, to));
  }

  @Override
  public final SortedMap<K, V> headMap(K to) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(this).headMap(to));
  }

  @Override
  public final SortedMap<K, V> tailMap(K from) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(this).tailMap(from));
  }
}
