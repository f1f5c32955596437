package io.troupe.core.run;

import io.troupe.core.PersistentMap;
import io.troupe.core.rollout.WorkerId;
import java.util.AbstractMap;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a run by name, and those with unmet demand by how much of it they have, so that
 * the choice of a worker looks at one worker and not at all of them. It never changes.
 */
@SuppressWarnings("JdkObsolete") // what RunState promises is a SortedMap
final class KnownWorkers extends AbstractMap<WorkerId, Worker>
    implements SortedMap<WorkerId, Worker> {
  static final KnownWorkers NONE = new KnownWorkers(PersistentMap.empty(), PersistentMap.empty());

  /** Most demand first; of equal demand the first name. */
  private record Place(long demand, WorkerId worker) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int order = Long.compare(other.demand, demand);
      return order != 0 ? order : worker.compareTo(other.worker);
    }
  }

  private final PersistentMap<WorkerId, Worker> all;
  private final PersistentMap<Place, WorkerId> demanding;

  private KnownWorkers(
      PersistentMap<WorkerId, Worker> all, PersistentMap<Place, WorkerId> demanding) {
    this.all = all;
    this.demanding = demanding;
  }

  /** The same workers; the object itself if it is one of these. */
  static KnownWorkers of(Map<WorkerId, Worker> workers) {
    if (workers instanceof KnownWorkers same) {
      return same;
    }
    KnownWorkers known = NONE;
    for (Map.Entry<WorkerId, Worker> entry : workers.entrySet()) {
      known = known.with(entry.getKey(), entry.getValue());
    }
    return known;
  }

  /** With a worker, in place of what it was before. */
  KnownWorkers with(WorkerId id, Worker worker) {
    long before = demandOf(id);
    long after = worker.demand();
    return new KnownWorkers(
        all.with(id, worker), before == after ? demanding : moved(id, before, after));
  }

  KnownWorkers without(WorkerId id) {
    return new KnownWorkers(all.without(id), moved(id, demandOf(id), 0));
  }

  private long demandOf(WorkerId id) {
    return all.find(id).map(Worker::demand).orElse(0L);
  }

  private PersistentMap<Place, WorkerId> moved(WorkerId id, long before, long after) {
    PersistentMap<Place, WorkerId> rest =
        before > 0 ? demanding.without(new Place(before, id)) : demanding;
    return after > 0 ? rest.with(new Place(after, id), id) : rest;
  }

  /** The workers with unmet demand: most demand first, of equal demand by name. */
  Collection<WorkerId> byDemand() {
    return demanding.values();
  }

  @Override
  public int size() {
    return all.size();
  }

  @Override
  public boolean containsKey(@Nullable Object id) {
    return all.containsKey(id);
  }

  @Override
  public @Nullable Worker get(@Nullable Object id) {
    return all.get(id);
  }

  @Override
  public Set<Map.Entry<WorkerId, Worker>> entrySet() {
    return all.entrySet();
  }

  @Override
  public @Nullable Comparator<? super WorkerId> comparator() {
    return all.comparator();
  }

  @Override
  public WorkerId firstKey() {
    return all.firstKey();
  }

  @Override
  public WorkerId lastKey() {
    return all.lastKey();
  }

  @Override
  public SortedMap<WorkerId, Worker> subMap(WorkerId from, WorkerId to) {
    return all.subMap(from, to);
  }

  @Override
  public SortedMap<WorkerId, Worker> headMap(WorkerId to) {
    return all.headMap(to);
  }

  @Override
  public SortedMap<WorkerId, Worker> tailMap(WorkerId from) {
    return all.tailMap(from);
  }
}
