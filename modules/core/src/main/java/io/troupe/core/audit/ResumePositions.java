package io.troupe.core.audit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The moments a checkpoint may hold, oldest first. A checkpoint may be durable although its process
 * died before it could say so; hence every step's is kept until a later one is known to be.
 */
final class ResumePositions {
  private final List<ResumePosition> all = new ArrayList<>();
  private final Set<Long> saved = new HashSet<>();

  void add(ResumePosition position) {
    all.add(position);
  }

  void replaceLast(ResumePosition position) {
    all.set(all.size() - 1, position);
  }

  /**
   * Notes that a checkpoint of this version is durable: older ones that are not durable will never
   * be.
   */
  void saved(long version) {
    saved.add(version);
    int kept = all.size();
    while (kept > 0 && !isSavedBefore(all.get(kept - 1), version)) {
      kept--;
    }
    all.subList(kept, all.size()).removeIf(position -> position.version() < version);
  }

  private boolean isSavedBefore(ResumePosition position, long version) {
    return position.version() < version && saved.contains(position.version());
  }

  /** Goes back to the moment that continues as {@code next}, forgetting all later ones. */
  Optional<ResumePosition> truncateTo(ResumePosition next) {
    for (int i = all.size() - 1; i >= 0; i--) {
      ResumePosition candidate = all.get(i);
      if (candidate.resumesAs(next)) {
        all.subList(i + 1, all.size()).clear();
        saved.add(candidate.version());
        return Optional.of(candidate);
      }
    }
    return Optional.empty();
  }

  void clear() {
    all.clear();
    saved.clear();
  }
}
