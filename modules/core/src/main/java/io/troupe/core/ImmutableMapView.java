package io.troupe.core;

import java.util.AbstractMap;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A map that answers from a {@link PersistentMap}, for classes that keep indexes beside it. It
 * never changes.
 *
 * @param <K> the keys
 * @param <V> the values
 */
@SuppressWarnings("JdkObsolete") // what records of the core promise is a SortedMap
public abstract class ImmutableMapView<K extends Comparable<K>, V> extends AbstractMap<K, V>
    implements SortedMap<K, V> {
  protected final PersistentMap<K, V> all;

  protected ImmutableMapView(PersistentMap<K, V> all) {
    this.all = all;
  }

  @Override
  public final int size() {
    return all.size();
  }

  @Override
  public final boolean containsKey(@Nullable Object key) {
    return all.containsKey(key);
  }

  @Override
  public final @Nullable V get(@Nullable Object key) {
    return all.get(key);
  }

  @Override
  public final Set<Map.Entry<K, V>> entrySet() {
    return all.entrySet();
  }

  @Override
  public final @Nullable Comparator<? super K> comparator() {
    return all.comparator();
  }

  @Override
  public final K firstKey() {
    return all.firstKey();
  }

  @Override
  public final K lastKey() {
    return all.lastKey();
  }

  @Override
  public final SortedMap<K, V> subMap(K from, K to) {
    return all.subMap(from, to);
  }

  @Override
  public final SortedMap<K, V> headMap(K to) {
    return all.headMap(to);
  }

  @Override
  public final SortedMap<K, V> tailMap(K from) {
    return all.tailMap(from);
  }
}
