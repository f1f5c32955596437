package io.troupe.core.advantage;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.List;

/**
 * The rewards of a step, by their parts: what the verifier gave, and what is added to it, such as a
 * penalty.
 *
 * @param parts each an array a group, an element a completion; at least one, all of one shape
 */
public record StepRewards(List<List<double[]>> parts) {
  public StepRewards {
    parts = List.copyOf(parts);
    require(!parts.isEmpty(), "rewards have at least one part");
    for (List<double[]> part : parts) {
      require(
          part.size() == parts.getFirst().size(),
          "each part of the rewards has %d groups, not %d",
          parts.getFirst().size(),
          part.size());
    }
  }

  /** Rewards of one part. */
  public static StepRewards of(List<double[]> rewards) {
    return new StepRewards(List.of(rewards));
  }

  /** Returns these rewards with one more part. */
  public StepRewards with(List<double[]> part) {
    List<List<double[]>> all = new ArrayList<>(parts);
    all.add(part);
    return new StepRewards(all);
  }

  /** The sums over the parts. */
  public List<double[]> total() {
    if (parts.size() == 1) {
      return parts.getFirst();
    }
    List<double[]> total = new ArrayList<>();
    for (int g = 0; g < parts.getFirst().size(); g++) {
      double[] sum = new double[parts.getFirst().get(g).length];
      for (List<double[]> part : parts) {
        for (int i = 0; i < sum.length; i++) {
          sum[i] += part.get(g)[i];
        }
      }
      total.add(sum);
    }
    return total;
  }
}
