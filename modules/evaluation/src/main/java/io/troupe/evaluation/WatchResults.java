package io.troupe.evaluation;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.text.MarkupText;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The evaluations of many versions of one run, in folders {@code v<N>}, as a table and a curve.
 * Both are made again from the summaries each time.
 */
public final class WatchResults {
  private static final Pattern VERSION = Pattern.compile("v(\\d{1,18})");
  private static final List<String> COLOURS =
      List.of("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b");
  private static final int WIDTH = 720;
  private static final int HEIGHT = 360;
  private static final int MARGIN = 48;
  private static final int LEGEND = 18;

  /** A point of a task's curve. */
  private record Point(long version, double average) {}

  private final Path folder;

  /** Results below a folder. */
  public WatchResults(Path folder) {
    this.folder = folder;
  }

  /** The folder of one version's evaluation. */
  public Path of(long version) {
    return folder.resolve("v" + version);
  }

  /** Whether a version is evaluated. */
  public boolean holds(long version) {
    return Files.isRegularFile(of(version).resolve("summary.json"));
  }

  /** Writes {@code results.csv} and {@code curve.svg} from all summaries there are. */
  public void regenerate() throws IOException {
    SortedMap<Long, JsonNode> summaries = new TreeMap<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(folder)) {
      for (Path path : paths) {
        Matcher name = VERSION.matcher(String.valueOf(path.getFileName()));
        if (name.matches() && holds(Long.parseLong(name.group(1)))) {
          summaries.put(
              Long.parseLong(name.group(1)),
              EvaluationLines.JSON.readTree(Files.readAllBytes(path.resolve("summary.json"))));
        }
      }
    }
    AtomicFile.replace(folder.resolve("results.csv"), csv(summaries));
    AtomicFile.replace(folder.resolve("curve.svg"), svg(summaries));
  }

  private static String csv(SortedMap<Long, JsonNode> summaries) {
    StringBuilder text = new StringBuilder("step,task,metric,value\n");
    summaries.forEach(
        (version, summary) -> {
          for (JsonNode task : summary.path("tasks")) {
            Map<String, JsonNode> metrics = new LinkedHashMap<>();
            metrics.put("avg", task.path("avg"));
            metrics.put("avg_low", task.path("interval").path(0));
            metrics.put("avg_high", task.path("interval").path(1));
            task.path("pass")
                .properties()
                .forEach(k -> metrics.put("pass@" + k.getKey(), k.getValue()));
            metrics.put("unverifiable", task.path("unverifiable"));
            metrics.put("truncated", task.path("truncated"));
            metrics.forEach(
                (metric, value) ->
                    text.append(version)
                        .append(',')
                        .append(quoted(task.path("task").asText()))
                        .append(',')
                        .append(metric)
                        .append(',')
                        .append(value.isNumber() ? value.asText() : "")
                        .append('\n'));
          }
        });
    return text.toString();
  }

  private static String quoted(String text) {
    return text.matches("[\\w .@-]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }

  private static String svg(SortedMap<Long, JsonNode> summaries) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    summaries.forEach(
        (version, summary) -> {
          for (JsonNode task : summary.path("tasks")) {
            if (task.path("avg").isNumber()) {
              curves
                  .computeIfAbsent(task.path("task").asText(), _ -> new ArrayList<>())
                  .add(new Point(version, task.path("avg").asDouble()));
            }
          }
        });
    long last = Math.max(1, summaries.isEmpty() ? 1 : summaries.lastKey());
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">%n"
            .formatted(WIDTH, HEIGHT + LEGEND * curves.size()));
    svg.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    for (int tenth = 0; tenth <= 10; tenth += 2) {
      double y = y(tenth / 10.0);
      svg.append(
          String.format(
              Locale.ROOT,
              "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"8\" y=\"%.1f\">%.1f</text>%n",
              MARGIN,
              WIDTH - MARGIN / 2,
              y,
              y,
              y + 4,
              tenth / 10.0));
    }
    svg.append(
        "<text x=\"%d\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">step %d</text>%n"
            .formatted(MARGIN, HEIGHT - 16, WIDTH - MARGIN / 2, HEIGHT - 16, last));
    int number = 0;
    for (Map.Entry<String, List<Point>> curve : curves.entrySet()) {
      curve(svg, curve.getKey(), curve.getValue(), last, number++);
    }
    return svg.append("</svg>\n").toString();
  }

  private static void curve(
      StringBuilder svg, String task, List<Point> points, long last, int number) {
    String colour = COLOURS.get(number % COLOURS.size());
    StringBuilder line = new StringBuilder();
    for (Point point : points) {
      double x = MARGIN + (WIDTH - 1.5 * MARGIN) * point.version() / last;
      double y = y(point.average());
      line.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
      svg.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>v%d %.4f</title></circle>%n",
              x,
              y,
              colour,
              point.version(),
              point.average()));
    }
    svg.append(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>%n"
            .formatted(line.toString().strip(), colour));
    svg.append(
        "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n"
            .formatted(MARGIN, HEIGHT + LEGEND * number + 6, colour, MarkupText.escaped(task)));
  }

  private static double y(double share) {
    return HEIGHT - MARGIN + 12 - (HEIGHT - 1.5 * MARGIN) * share;
  }
}
