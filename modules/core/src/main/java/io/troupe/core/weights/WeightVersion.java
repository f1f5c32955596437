package io.troupe.core.weights;

import static io.troupe.core.Require.require;

/**
 * A version of the policy's weights: v0 is the base model (after the supervised warm-up, if there
 * is one), and training step n starts from v(n-1) and makes vn.
 *
 * @param number 0 or greater
 */
public record WeightVersion(long number) implements Comparable<WeightVersion> {
  /** The weights before any training step. */
  public static final WeightVersion BASE = new WeightVersion(0);

  public WeightVersion {
    require(number >= 0, "a weight version is 0 or greater, not %d", number);
  }

  /** The version that the next training step makes. */
  public WeightVersion next() {
    return new WeightVersion(number + 1);
  }

  /** Staleness of a token: this version, the trainer's, minus the one that sampled the token. */
  public long stalenessOf(WeightVersion sampledBy) {
    return number - sampledBy.number;
  }

  @Override
  public int compareTo(WeightVersion other) {
    return Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return "v" + number;
  }
}
