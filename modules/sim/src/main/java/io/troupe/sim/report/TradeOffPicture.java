package io.troupe.sim.report;

import java.util.List;
import java.util.Locale;

/** A picture of what a faster run costs in staleness: a dot a setting, as SVG. */
final class TradeOffPicture {
  private static final int WIDTH = 760;
  private static final int HEIGHT = 460;
  private static final int LEFT = 80;
  private static final int RIGHT = 30;
  private static final int TOP = 30;
  private static final int BOTTOM = 60;
  private static final int TICKS = 5;

  private TradeOffPicture() {}

  /** A setting: its mean staleness, its steps a second, its name, and whether it is the best. */
  record Dot(double staleness, double rate, String name, boolean best) {}

  static String of(List<Dot> dots) {
    double right = Math.max(0.1, dots.stream().mapToDouble(Dot::staleness).max().orElse(1)) * 1.1;
    double top = Math.max(1e-9, dots.stream().mapToDouble(Dot::rate).max().orElse(1)) * 1.1;
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">%n"
            .formatted(WIDTH, HEIGHT));
    svg.append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    for (int i = 0; i <= TICKS; i++) {
      double share = i / (double) TICKS;
      svg.append(line(x(share), TOP, x(share), HEIGHT - BOTTOM));
      svg.append(text(x(share), HEIGHT - BOTTOM + 18, "middle", "%.2f".formatted(share * right)));
      svg.append(line(LEFT, y(share), WIDTH - RIGHT, y(share)));
      svg.append(text(LEFT - 8, y(share) + 4, "end", "%.3g".formatted(share * top)));
    }
    svg.append(
        text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, "middle", "mean staleness, versions"));
    svg.append(text(LEFT, TOP - 12, "start", "steps per second"));
    for (Dot dot : dots) {
      double x = x(dot.staleness() / right);
      double y = y(dot.rate() / top);
      svg.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"><title>%s</title></circle>%n",
              x,
              y,
              dot.best() ? 7 : 4,
              dot.best() ? "#c0392b" : "#2c6fbb",
              escape(dot.name())));
      boolean fits = x < WIDTH - RIGHT - 7.0 * dot.name().length();
      svg.append(text(fits ? x + 9 : x - 9, y + 4, fits ? "start" : "end", escape(dot.name())));
    }
    return svg.append("</svg>\n").toString();
  }

  private static double x(double share) {
    return LEFT + share * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double share) {
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
  }

  private static String line(double fromX, double fromY, double toX, double toY) {
    return String.format(
        Locale.ROOT,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>%n",
        fromX,
        fromY,
        toX,
        toY);
  }

  private static String text(double x, double y, String anchor, String text) {
    return String.format(
        Locale.ROOT,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
        x,
        y,
        anchor,
        text);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
