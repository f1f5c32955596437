package io.troupe.benchmarks.harness;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.databind.node.NullNode;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * One quantity, measured some rounds in turn here and elsewhere: rounds of both sides lie side by
 * side in time, so that the median of their ratios is stable where the machine's speed is not.
 *
 * @param name of the quantity
 * @param unit of both sides
 * @param ours a value a round
 * @param theirs a value a round, or none where the other side was not there
 * @param bar number that the median ratio must reach or stay below; not a number when nothing is
 *     promised
 * @param higherIsBetter whether a higher number is better
 */
public record PairedMeasurement(
    String name,
    String unit,
    List<Double> ours,
    List<Double> theirs,
    double bar,
    boolean higherIsBetter) {
  public PairedMeasurement {
    ours = List.copyOf(ours);
    theirs = List.copyOf(theirs);
    require(!ours.isEmpty(), "%s was not measured", name);
    require(
        theirs.isEmpty() || theirs.size() == ours.size(),
        "%s was measured %d times here and %d times there",
        name,
        ours.size(),
        theirs.size());
  }

  /** Returns the median of our rounds. */
  public double ourMedian() {
    return median(ours);
  }

  /** Not a number where the other side was not there. */
  public double theirMedian() {
    return median(theirs);
  }

  /** The median of the rounds' ratios, ours over theirs. */
  public double ratio() {
    return median(
        IntStream.range(0, theirs.size()).mapToObj(i -> ours.get(i) / theirs.get(i)).toList());
  }

  /** Whether the bar is met; true where there is nothing to compare with. */
  public boolean ok() {
    boolean judged = !theirs.isEmpty() && !Double.isNaN(bar);
    return !judged || (higherIsBetter ? ratio() >= bar : ratio() <= bar);
  }

  /** Returns the object that {@code --json} writes; numbers that are not finite are null. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("unit", unit);
    put(json, "ours", ourMedian());
    put(json, "pytorch", theirMedian());
    put(json, "ratio", ratio());
    put(json, "bar", bar);
    json.put("ok", ok());
    json.put("rounds_ours", ours);
    json.put("rounds_pytorch", theirs);
    return json;
  }

  private static void put(Map<String, Object> json, String key, double number) {
    json.put(key, Double.isNaN(number) ? NullNode.instance : number);
  }

  private static double median(List<Double> values) {
    if (values.isEmpty()) {
      return Double.NaN;
    }
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
