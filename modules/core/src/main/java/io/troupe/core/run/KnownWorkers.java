package io.troupe.core.run;

import io.troupe.core.ImmutableSortedMap;
import io.troupe.core.PersistentMap;
import io.troupe.core.rollout.WorkerId;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The workers of a run by name, and those with unmet demand by how much of it they have, so that
 * the choice of a worker looks at one worker and not at all of them. It never changes.
 */
final class KnownWorkers extends ImmutableSortedMap<WorkerId, Worker> {
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

  /** Returns the same workers; the given map itself if it is a {@code KnownWorkers}. */
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

  @Override
  public Optional<Worker> find(WorkerId id) {
    return all.find(id);
  }

  @Override
  public int size() {
    return all.size();
  }

  @Override
  public WorkerId lastKey() {
    return all.lastKey();
  }

  @Override
  public Set<Map.Entry<WorkerId, Worker>> entrySet() {
    return all.entrySet();
  }

  /** The workers with unmet demand: most demand first, of equal demand by name. */
  Collection<WorkerId> byDemand() {
    return demanding.values();
  }
}
