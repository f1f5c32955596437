package io.troupe.sim.report;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Predictions of one configuration with some keys changed.
 *
 * @param keys that change
 * @param points one a combination, in the order of the command line
 */
public record Sweep(List<String> keys, List<Point> points) {
  /** Two rates that differ by less are the same, so that the lower staleness decides. */
  private static final double TIE = 0.01;

  /** The values of the keys, and what they lead to. */
  public record Point(List<String> values, Prediction prediction) {
    public Point {
      values = List.copyOf(values);
    }

    double rate() {
      double rate = prediction.stepsPerSecond().mean();
      return Double.isFinite(rate) ? rate : 0;
    }

    double staleness() {
      double mean = prediction.staleness().mean();
      return Double.isFinite(mean) ? mean : 0;
    }
  }

  public Sweep {
    keys = List.copyOf(keys);
    points = List.copyOf(points);
    require(!points.isEmpty(), "a sweep has one point or more");
  }

  /** The fastest point; of those within one per cent of it the one that is stale least. */
  public Point best() {
    double fastest = points.stream().mapToDouble(Point::rate).max().orElse(0);
    return points.stream()
        .filter(point -> point.rate() >= fastest * (1 - TIE))
        .min(Comparator.comparingDouble(Point::staleness))
        .orElseThrow();
  }

  /** The table, as lines of text. */
  public List<String> lines() {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(keys);
    head.addAll(
        List.of(
            "steps/s", "90 % range", "time to steps", "staleness", "masked", "trainer", "workers"));
    rows.add(head);
    for (Point point : points) {
      Prediction prediction = point.prediction();
      List<String> row = new ArrayList<>(point.values());
      Band rate = prediction.stepsPerSecond();
      row.add("%.4g".formatted(rate.mean()));
      row.add("%.4g-%.4g".formatted(rate.low(), rate.high()));
      row.add(Prediction.time(prediction.secondsToSteps().mean()));
      row.add("%.3g".formatted(prediction.staleness().mean()));
      row.add("%.1f %%".formatted(prediction.masked().mean() * 100));
      row.add("%.0f %%".formatted(prediction.trainer().mean() * 100));
      row.add("%.0f %%".formatted(prediction.workers().mean() * 100));
      rows.add(row);
    }
    List<String> lines = table(rows);
    lines.add("");
    lines.add("best            " + name(best()));
    return lines;
  }

  private String name(Point point) {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      parts.add(keys.get(i) + "=" + point.values().get(i));
    }
    return String.join(" ", parts);
  }

  private static List<String> table(List<List<String>> rows) {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        line.append(" ".repeat(widths[i] - row.get(i).length())).append(row.get(i)).append("  ");
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  /** Returns all points, by name. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("keys", keys);
    List<Object> all = new ArrayList<>();
    for (Point point : points) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("values", point.values());
      one.put("prediction", point.prediction().json());
      all.add(one);
    }
    json.put("points", all);
    json.put("best", best().values());
    return json;
  }

  /** The picture of the trade-off, as SVG. */
  public String svg() {
    Point best = best();
    return TradeOffPicture.of(
        points.stream()
            .map(
                point ->
                    new TradeOffPicture.Dot(
                        point.staleness(), point.rate(), name(point), point.equals(best)))
            .toList());
  }
}
