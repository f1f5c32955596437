package io.troupe.benchmarks.harness;

import com.fasterxml.jackson.databind.node.NullNode;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One measured number beside what it is compared with.
 *
 * @param name of the measurement
 * @param value measured
 * @param unit of value and baseline
 * @param baseline measured in the same run; not a number when there is none
 * @param bar number that the ratio of value to baseline, or the value itself without a baseline,
 *     must reach or stay below; not a number when nothing is promised
 * @param higherIsBetter whether a higher number is better
 */
public record Measurement(
    String name, double value, String unit, double baseline, double bar, boolean higherIsBetter) {
  /** Value over baseline; not a number without one. */
  public double ratio() {
    return value / baseline;
  }

  /** Whether the bar is met; true without one. */
  public boolean ok() {
    double judged = Double.isNaN(baseline) ? value : ratio();
    return Double.isNaN(bar) || (higherIsBetter ? judged >= bar : judged <= bar);
  }

  /** Returns the object that {@code --json} writes; numbers that are not finite are null. */
  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("value", value);
    json.put("unit", unit);
    put(json, "baseline", baseline);
    put(json, "ratio", ratio());
    put(json, "bar", bar);
    json.put("ok", ok());
    return json;
  }

  private static void put(Map<String, Object> json, String key, double number) {
    json.put(key, Double.isNaN(number) ? NullNode.instance : number);
  }
}
