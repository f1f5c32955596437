package io.troupe.telemetry;

import static io.troupe.core.Require.require;

import io.troupe.base.text.MarkupText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/**
 * Curves over a common axis, as a picture: an SVG document that needs nothing else. Each curve has
 * a colour (told apart also by the colour-blind: Okabe and Ito 2008) and a dash pattern of its own.
 *
 * @param series curves, in the legend's order; may be empty
 * @param levels horizontal lines for comparison, such as a bar to pass
 */
public record CurvePlot(
    String title, String xLabel, String yLabel, List<Series> series, List<Level> levels) {
  /** A point; one that is not finite is left out, and the curve continues behind it. */
  public record Point(double x, double y) {}

  /** A curve through points in the order given. */
  public record Series(String name, List<Point> points) {
    public Series {
      points =
          points.stream()
              .filter(point -> Double.isFinite(point.x()) && Double.isFinite(point.y()))
              .toList();
    }
  }

  /** A horizontal line with its name. */
  public record Level(String name, double y) {
    public Level {
      require(Double.isFinite(y), "level '%s' of a plot lies at %s, which is nowhere", name, y);
    }
  }

  private static final int WIDTH = 720;
  private static final int HEIGHT = 440;
  private static final int LEFT = 70;
  private static final int RIGHT = 700;
  private static final int TOP = 72;
  private static final int BOTTOM = 384;
  private static final int LEGEND_Y = 52;
  private static final int LEGEND_LINE = 26;
  private static final int CHARACTER = 7;
  private static final List<String> COLOURS =
      List.of("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9");
  private static final List<String> DASHES = List.of("none", "7 3", "2 2", "9 3 2 3", "12 4");

  public CurvePlot {
    series = List.copyOf(series);
    levels = List.copyOf(levels);
  }

  /** The SVG document. */
  public String svg() {
    PlotAxis xs = PlotAxis.over(points().stream().mapToDouble(Point::x).toArray());
    PlotAxis ys =
        PlotAxis.over(
            java.util.stream.DoubleStream.concat(
                    points().stream().mapToDouble(Point::y), levels.stream().mapToDouble(Level::y))
                .toArray());
    List<String> lines = new ArrayList<>();
    lines.add(
        ("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                + " viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\""
                + " fill=\"#222\">")
            .formatted(WIDTH, HEIGHT, WIDTH, HEIGHT));
    lines.add("<title>%s</title>".formatted(MarkupText.escaped(title)));
    lines.add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>".formatted(WIDTH, HEIGHT));
    lines.add(text(WIDTH / 2.0, 26, "middle", title, "font-size=\"16\" font-weight=\"bold\""));
    addAxes(lines, xs, ys);
    addLevels(lines, ys);
    addCurves(lines, xs, ys);
    addLegend(lines);
    lines.add("</svg>");
    return String.join("\n", lines) + "\n";
  }

  private List<Point> points() {
    return series.stream().flatMap(one -> one.points().stream()).toList();
  }

  private void addAxes(List<String> lines, PlotAxis xs, PlotAxis ys) {
    for (double tick : xs.ticks()) {
      double x = xs.place(tick, LEFT, RIGHT);
      lines.add(segment(x, TOP, x, BOTTOM, "stroke=\"#e4e4e4\""));
      lines.add(text(x, BOTTOM + 18, "middle", xs.label(tick), ""));
    }
    for (double tick : ys.ticks()) {
      double y = ys.place(tick, BOTTOM, TOP);
      lines.add(segment(LEFT, y, RIGHT, y, "stroke=\"#e4e4e4\""));
      lines.add(text(LEFT - 8, y + 4, "end", ys.label(tick), ""));
    }
    lines.add(segment(LEFT, BOTTOM, RIGHT, BOTTOM, "stroke=\"#222\""));
    lines.add(segment(LEFT, TOP, LEFT, BOTTOM, "stroke=\"#222\""));
    lines.add(text((LEFT + RIGHT) / 2.0, BOTTOM + 42, "middle", xLabel, ""));
    double middle = (TOP + BOTTOM) / 2.0;
    lines.add(
        text(20, middle, "middle", yLabel, "transform=\"rotate(-90 20 %s)\"".formatted(n(middle))));
  }

  private void addLevels(List<String> lines, PlotAxis ys) {
    for (Level level : levels) {
      double y = ys.place(level.y(), BOTTOM, TOP);
      lines.add(segment(LEFT, y, RIGHT, y, "stroke=\"#777\" stroke-dasharray=\"4 4\""));
      lines.add(text(LEFT + 6, y - 5, "start", level.name(), "fill=\"#555\""));
    }
  }

  private void addCurves(List<String> lines, PlotAxis xs, PlotAxis ys) {
    for (int i = 0; i < series.size(); i++) {
      StringJoiner path = new StringJoiner(" ");
      for (Point point : series.get(i).points()) {
        path.add(n(xs.place(point.x(), LEFT, RIGHT)) + "," + n(ys.place(point.y(), BOTTOM, TOP)));
      }
      lines.add(
          "<polyline points=\"%s\" fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\" %s/>"
              .formatted(path, stroke(i)));
    }
  }

  private void addLegend(List<String> lines) {
    double x = LEFT;
    for (int i = 0; i < series.size(); i++) {
      lines.add(segment(x, LEGEND_Y, x + LEGEND_LINE, LEGEND_Y, "stroke-width=\"2\" " + stroke(i)));
      String name = series.get(i).name();
      lines.add(text(x + LEGEND_LINE + 6, LEGEND_Y + 4, "start", name, ""));
      x += LEGEND_LINE + 24 + CHARACTER * name.length();
    }
  }

  private static String stroke(int index) {
    return "stroke=\"%s\" stroke-dasharray=\"%s\""
        .formatted(COLOURS.get(index % COLOURS.size()), DASHES.get(index % DASHES.size()));
  }

  private static String segment(double x1, double y1, double x2, double y2, String style) {
    return "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" %s/>"
        .formatted(n(x1), n(y1), n(x2), n(y2), style);
  }

  private static String text(double x, double y, String anchor, String text, String style) {
    return "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\"%s>%s</text>"
        .formatted(
            n(x), n(y), anchor, style.isEmpty() ? "" : " " + style, MarkupText.escaped(text));
  }

  private static String n(double coordinate) {
    return String.format(Locale.ROOT, "%.1f", coordinate);
  }
}
