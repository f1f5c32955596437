package io.troupe.core.advantage;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.List;

/**
 * The rewards of a step, by their parts: what the verifier gave, and what is added to it, such as a
 * penalty.
 *
 * @param parts the verifier's first; at least one, all of one shape
 */
public record StepRewards(List<Part> parts) {
  /**
   * One part.
   *
   * @param weight finite, by which the part counts in the reward
   * @param values an array a group, an element a completion, finite
   */
  public record Part(double weight, List<double[]> values) {
    public Part {
      require(Double.isFinite(weight), "the weight of a part is a finite number, not %s", weight);
      values = List.copyOf(values);
    }
  }

  public StepRewards {
    parts = List.copyOf(parts);
    require(!parts.isEmpty(), "rewards have at least one part");
    int groups = parts.getFirst().values().size();
    for (Part part : parts) {
      require(
          part.values().size() == groups,
          "each part of the rewards has %d groups, not %d",
          groups,
          part.values().size());
    }
  }

  /** Rewards of one part, the verifier's. */
  public static StepRewards of(List<double[]> rewards) {
    return new StepRewards(List.of(new Part(1, rewards)));
  }

  /** Returns these rewards with one more part. */
  public StepRewards with(double weight, List<double[]> values) {
    List<Part> all = new ArrayList<>(parts);
    all.add(new Part(weight, values));
    return new StepRewards(all);
  }

  /** What the verifier gave. */
  public List<double[]> ofVerifier() {
    return parts.getFirst().values();
  }

  /** The weighted sums over the parts. */
  public List<double[]> total() {
    if (parts.size() == 1 && parts.getFirst().weight() == 1) {
      return ofVerifier();
    }
    List<double[]> total = new ArrayList<>();
    for (int g = 0; g < ofVerifier().size(); g++) {
      double[] sum = new double[ofVerifier().get(g).length];
      for (Part part : parts) {
        for (int i = 0; i < sum.length; i++) {
          sum[i] += part.weight() * part.values().get(g)[i];
        }
      }
      total.add(sum);
    }
    return total;
  }
}
