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
 * The weights that a fleet is brought to, those it was ever given, and who waits for them. Guarded
 * by the fleet's books.
 */
final class TargetWeights {
  private static final int VERSIONS_KEPT = 1024;

  private record PendingLoad(WeightVersion version, CompletableFuture<WeightVersion> loaded) {}

  private final List<PendingLoad> loads = new ArrayList<>();
  private Map<WeightVersion, String> published = Map.of();
  private Optional<WeightSyncLoop.TargetWeightSet> goal = Optional.empty();

  /** What servers are to be brought to; none before the first. */
  Optional<WeightSyncLoop.TargetWeightSet> goal() {
    return goal;
  }

  boolean isGoal(WeightSyncLoop.TargetWeightSet other) {
    return goal.filter(now -> now.tag().equals(other.tag())).isPresent();
  }

  /** Digests of the versions given, the latest of them. */
  Map<WeightVersion, String> published() {
    return published;
  }

  /**
   * Offers weights; older ones than the newest only wait for those.
   *
   * @param loaded completes once a server has them, or newer ones
   * @return whether they are the new goal
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
    published = Map.copyOf(known); // once a version, and not once a completion
    goal = Optional.of(offered);
    return true;
  }

  /** Takes out those who waited for what a server has now. */
  List<CompletableFuture<WeightVersion>> reached(WeightVersion version) {
    List<CompletableFuture<WeightVersion>> done = new ArrayList<>();
    loads.removeIf(load -> load.version().compareTo(version) <= 0 && done.add(load.loaded()));
    return done;
  }

  /** Takes out all who wait. */
  List<CompletableFuture<WeightVersion>> unreached() {
    List<CompletableFuture<WeightVersion>> all = loads.stream().map(PendingLoad::loaded).toList();
    loads.clear();
    return all;
  }
}
