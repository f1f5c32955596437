package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;

/**
 * The bound on staleness, and its one definition.
 *
 * <p>Invariant S1: no token whose staleness exceeds the bound ever gets loss weight. {@link
 * #trainable} decides it for each token of a batch, against the version the step starts from, at
 * the moment the batch is made; everything else here only keeps that from costing much.
 *
 * @param maxStaleness eta, in weight versions, 0 or greater
 */
public record StalenessBound(long maxStaleness) {
  public StalenessBound {
    require(maxStaleness >= 0, "max_staleness is 0 or greater, not %d", maxStaleness);
  }

  /** The oldest version whose tokens a step from {@code trainer} may train on. */
  public WeightVersion floor(WeightVersion trainer) {
    return new WeightVersion(Math.max(0, trainer.number() - maxStaleness));
  }

  /** Returns a flag for each token, whether a step from {@code trainer} may train on it. */
  public boolean[] trainable(TokenVersions versions, WeightVersion trainer) {
    boolean[] flags = new boolean[versions.tokens()];
    int token = 0;
    for (TokenVersions.Span span : versions.spans()) {
      boolean young = trainer.stalenessOf(span.version()) <= maxStaleness;
      for (int i = 0; i < span.tokens(); i++) {
        flags[token++] = young;
      }
    }
    return flags;
  }

  /** Whether a group must be sampled again instead of trained by a step from {@code trainer}. */
  public boolean tooStale(GroupSummary group, StalePolicy policy, WeightVersion trainer) {
    WeightVersion decisive = policy == StalePolicy.MASK ? group.newest() : group.oldest();
    return trainer.stalenessOf(decisive) > maxStaleness;
  }
}
