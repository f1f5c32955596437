package io.troupe.engine.http.replica;

import io.troupe.core.weights.WeightVersion;

/**
 * When what a server draws with adapters is to be compared with the run's policy.
 *
 * <p>Once a life of the server shows what lies under the adapters. Whether the server adds them,
 * and as the run does, shows less the smaller they are, and not at all at version 0: an adapter is
 * the product of two matrices, and one of them begins as zeros (Hu et al. 2021, section 4.1). So it
 * is compared again at version 1, and whenever the version has doubled since.
 *
 * @param life of the server that was compared last, or -1
 * @param version that it was compared at
 */
record ComparisonSchedule(long life, long version) {
  static final ComparisonSchedule NONE = new ComparisonSchedule(-1, 0);

  /** Whether that is the server of now. */
  boolean sameLife(long now) {
    return life == now;
  }

  /** Whether the adapters may have grown enough since. */
  boolean due(WeightVersion now) {
    return now.number() >= Math.max(1, 2 * version);
  }
}
