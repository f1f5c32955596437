import io.troupe.core.advantage.AdvantageFunction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The reward minus the group's mean, in units of the best completion's. */
public final class FromBest implements AdvantageFunction {
  @Override
  public List<double[]> of(List<double[]> rewards, List<int[]> lengths) {
    List<double[]> all = new ArrayList<>();
    for (double[] group : rewards) {
      double mean = Arrays.stream(group).average().orElseThrow();
      double best = Arrays.stream(group).max().orElseThrow();
      double scale = Math.max(best - mean, 1e-6);
      all.add(Arrays.stream(group).map(reward -> (reward - mean) / scale).toArray());
    }
    return all;
  }
}
