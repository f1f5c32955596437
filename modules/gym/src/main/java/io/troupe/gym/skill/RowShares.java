package io.troupe.gym.skill;

import static io.troupe.core.Require.require;

import io.troupe.core.SplitMix64;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Divides a number of rows among subskills of all skills.
 *
 * <p>By weakness, with K subskills of accuracy a_k and the floor f:
 *
 * <pre>
 *   w_k = f / K + (1 - f) (1 - a_k) / sum_j (1 - a_j)
 * </pre>
 *
 * <p>The floor keeps every subskill in the data, against forgetting. Shares become whole rows by
 * largest remainders, so that they add up to the rows exactly.
 */
public sealed interface RowShares {
  /**
   * Returns the rows of each subskill, which add up to {@code rows}.
   *
   * @param accuracies by subskill, each in [0, 1]; at least one
   */
  Map<String, Integer> divide(int rows, Map<String, Double> accuracies, long seed);

  /**
   * More rows to what is weak.
   *
   * @param floor share that is divided evenly, in [0, 1]
   */
  record Weakness(double floor) implements RowShares {
    public Weakness {
      require(floor >= 0 && floor <= 1, "agent.floor lies in [0, 1], not %s", floor);
    }

    @Override
    public Map<String, Integer> divide(int rows, Map<String, Double> accuracies, long seed) {
      double weakness = accuracies.values().stream().mapToDouble(each -> 1 - each).sum();
      Map<String, Double> weights = new TreeMap<>();
      accuracies.forEach(
          (name, accuracy) ->
              weights.put(
                  name,
                  weakness == 0
                      ? 1
                      : floor / accuracies.size() + (1 - floor) * (1 - accuracy) / weakness));
      return whole(rows, weights);
    }
  }

  /** An equal share for each skill. */
  record Uniform() implements RowShares {
    @Override
    public Map<String, Integer> divide(int rows, Map<String, Double> accuracies, long seed) {
      Map<String, Double> weights = new TreeMap<>();
      accuracies.keySet().forEach(name -> weights.put(name, 1.0));
      return whole(rows, weights);
    }
  }

  /** Shares drawn from the uniform distribution over the simplex. */
  record Drawn() implements RowShares {
    @Override
    public Map<String, Integer> divide(int rows, Map<String, Double> accuracies, long seed) {
      Map<String, Double> weights = new TreeMap<>();
      long draw = SplitMix64.mix(seed);
      for (String name : new TreeMap<>(accuracies).keySet()) {
        draw = SplitMix64.mix(draw);
        weights.put(name, -Math.log1p(-((draw >>> 11) * 0x1p-53)));
      }
      return whole(rows, weights);
    }
  }

  private static Map<String, Integer> whole(int rows, Map<String, Double> weights) {
    require(rows >= 0, "0 or more rows are divided, not %d", rows);
    require(!weights.isEmpty(), "rows are divided among at least one subskill");
    double sum = weights.values().stream().mapToDouble(Double::doubleValue).sum();
    List<String> names = new ArrayList<>(weights.keySet());
    double[] exact =
        names.stream().mapToDouble(name -> rows * weights.getOrDefault(name, 0.0) / sum).toArray();
    int[] given = IntStream.range(0, exact.length).map(i -> (int) exact[i]).toArray();
    List<Integer> byRemainder =
        IntStream.range(0, exact.length)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> given[i] - exact[i]))
            .toList();
    int left = rows - IntStream.of(given).sum();
    for (int i = 0; i < left; i++) {
      given[byRemainder.get(i)]++;
    }
    Map<String, Integer> whole = new TreeMap<>();
    for (int i = 0; i < given.length; i++) {
      whole.put(names.get(i), given[i]);
    }
    return whole;
  }
}
