package io.troupe.runtime.weights;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.TokenVersions;
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
public record WeightDigests(SortedMap<WeightVersion, String> byVersion) {
  /** More versions than any completion lives through while its tokens still count. */
  private static final int KEPT = 1024;

  public static final WeightDigests NONE = new WeightDigests(Collections.emptySortedMap());

  public WeightDigests {
    byVersion = Collections.unmodifiableSortedMap(new TreeMap<>(byVersion));
  }

  /** With one more; the oldest goes when there are too many. */
  public WeightDigests with(WeightVersion version, String digest) {
    SortedMap<WeightVersion, String> all = new TreeMap<>(byVersion);
    all.put(version, digest);
    if (all.size() > KEPT) {
      all.remove(all.firstKey());
    }
    return new WeightDigests(all);
  }

  /** The digests of the versions of a group's tokens; empty for a version that is too old. */
  public List<SampledWeights> of(List<Completion> completions) {
    return versions(completions).stream()
        .map(version -> new SampledWeights(version, byVersion.getOrDefault(version, "")))
        .toList();
  }

  /**
   * Returns the reason why a group sampled with {@code claimed} weights cannot be trained on, if it
   * cannot.
   */
  public Optional<String> mismatch(List<Completion> completions, List<SampledWeights> claimed) {
    return versions(completions).stream()
        .filter(
            version ->
                !claimed.contains(
                    new SampledWeights(version, byVersion.getOrDefault(version, "unknown"))))
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
