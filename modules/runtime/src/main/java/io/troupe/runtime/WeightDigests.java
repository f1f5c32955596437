package io.troupe.runtime;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The digests of the newest weight versions: a version names weights, and only the digest proves
 * that two processes mean the same ones by it. After a failover the name comes twice.
 *
 * @param byVersion the newest ones
 */
record WeightDigests(SortedMap<WeightVersion, String> byVersion) {
  /** More versions than any completion lives through while its tokens still count. */
  private static final int KEPT = 1024;

  static final WeightDigests NONE = new WeightDigests(Collections.emptySortedMap());

  WeightDigests {
    byVersion = Collections.unmodifiableSortedMap(new TreeMap<>(byVersion));
  }

  /** With one more; the oldest goes when there are too many. */
  WeightDigests with(WeightVersion version, String digest) {
    SortedMap<WeightVersion, String> all = new TreeMap<>(byVersion);
    all.put(version, digest);
    if (all.size() > KEPT) {
      all.remove(all.firstKey());
    }
    return new WeightDigests(all);
  }

  /** What stands behind the versions of a group's tokens; empty where it is forgotten. */
  List<SampledWith> behind(List<Completion> completions) {
    return versions(completions).stream()
        .map(version -> new SampledWith(version, byVersion.getOrDefault(version, "")))
        .toList();
  }

  /** Why a group sampled with {@code claimed} weights cannot be trained on, if it cannot. */
  Optional<String> objectionTo(List<Completion> completions, List<SampledWith> claimed) {
    return versions(completions).stream()
        .filter(
            version ->
                !claimed.contains(
                    new SampledWith(version, byVersion.getOrDefault(version, "unknown"))))
        .findFirst()
        .map(version -> "sampled with other weights than those published as " + version);
  }

  private static List<WeightVersion> versions(List<Completion> completions) {
    return completions.stream()
        .flatMap(completion -> completion.versions().spans().stream())
        .map(TokenVersions.Span::version)
        .distinct()
        .sorted()
        .toList();
  }
}
