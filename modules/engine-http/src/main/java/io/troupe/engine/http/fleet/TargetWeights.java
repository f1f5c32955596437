package io.troupe.engine.http.fleet;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.replica.WeightSyncLoop;
import io.troupe.engine.protocol.WeightTag;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * The weights that a fleet's replicas must reach, the versions that the fleet received, and the
 * futures that wait for a version. Guarded by the lock of {@link FleetState}.
 */
final class TargetWeights {
  private static final int VERSIONS_KEPT = 1024;

  private record PendingLoad(WeightVersion version, CompletableFuture<WeightVersion> loaded) {}

  private final List<PendingLoad> loads = new ArrayList<>();
  private Map<WeightVersion, String> published = Map.of();
  private Optional<WeightSyncLoop.TargetWeightSet> goal = Optional.empty();

  /** The weights that replicas must reach; empty before the first weights. */
  Optional<WeightSyncLoop.TargetWeightSet> goal() {
    return goal;
  }

  boolean isGoal(WeightSyncLoop.TargetWeightSet other) {
    return goal.filter(now -> now.tag().equals(other.tag())).isPresent();
  }

  /** Digests of the latest versions that the fleet received. */
  Map<WeightVersion, String> published() {
    return published;
  }

  /**
   * Offers weights; a version older than the newest only waits for the newest.
   *
   * @param loaded completes once a replica has these weights or newer ones
   * @return whether these weights are the new target
   */
  boolean offer(WeightSyncLoop.TargetWeightSet offered, CompletableFuture<WeightVersion> loaded) {
    WeightTag tag = offered.tag();
    loads.add(new PendingLoad(tag.version(), loaded));
    boolean older =
        goal.filter(now -> now.tag().version().compareTo(tag.version()) > 0).isPresent();
    if (older || isGoal(offered)) {
      return false;
    }
    SortedMap<WeightVersion, String> known = new TreeMap<>(published);
    known.put(tag.version(), tag.digest());
    if (known.size() > VERSIONS_KEPT) {
      known.pollFirstEntry();
    }
    published = Map.copyOf(known); // copied once a version, not once a completion
    goal = Optional.of(offered);
    return true;
  }

  /** Removes the futures that waited for weights that a replica now has. */
  List<CompletableFuture<WeightVersion>> reached(WeightVersion version) {
    List<CompletableFuture<WeightVersion>> done = new ArrayList<>();
    loads.removeIf(load -> load.version().compareTo(version) <= 0 && done.add(load.loaded()));
    return done;
  }

  /** Removes all waiting futures. */
  List<CompletableFuture<WeightVersion>> unreached() {
    List<CompletableFuture<WeightVersion>> all = loads.stream().map(PendingLoad::loaded).toList();
    loads.clear();
    return all;
  }
}
