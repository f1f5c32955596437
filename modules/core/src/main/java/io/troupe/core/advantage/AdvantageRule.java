package io.troupe.core.advantage;

import static io.troupe.core.Require.require;

import java.util.List;

/** The rule that makes advantages of rewards. */
public sealed interface AdvantageRule permits Baseline, AdvantageRule.Own {
  /**
   * A user's own.
   *
   * @param name of its class
   */
  record Own(String name, AdvantageFunction function) implements AdvantageRule {
    /**
     * Asks the function and checks what it returns.
     *
     * @throws IllegalArgumentException if it has another shape than the rewards, or is not finite
     */
    public List<double[]> of(List<double[]> rewards, List<int[]> lengths) {
      List<double[]> advantages =
          function.of(
              rewards.stream().map(double[]::clone).toList(),
              lengths.stream().map(int[]::clone).toList());
      require(
          advantages.size() == rewards.size(),
          "%s gave advantages of %d groups for rewards of %d",
          name,
          advantages.size(),
          rewards.size());
      for (int g = 0; g < rewards.size(); g++) {
        double[] group = advantages.get(g);
        require(
            group.length == rewards.get(g).length,
            "%s gave %d advantages for the %d rewards of group %d",
            name,
            group.length,
            rewards.get(g).length,
            g);
        for (int i = 0; i < group.length; i++) {
          require(
              Double.isFinite(group[i]),
              "%s gave the advantage %s for reward %s, completion %d of group %d",
              name,
              group[i],
              rewards.get(g)[i],
              i,
              g);
        }
      }
      return advantages;
    }

    @Override
    public String toString() {
      return name;
    }
  }
}
