package io.troupe.gym.session;

import io.troupe.base.text.MarkupText;
import io.troupe.gym.item.SkillSlice;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.loop.TrialState.Measured;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** The validation accuracy of each arm by iteration, one panel a leaf, as SVG. */
public final class GymChart {
  private static final int WIDTH = 260;
  private static final int HEIGHT = 160;
  private static final int MARGIN = 36;
  private static final List<String> COLOURS =
      List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999");

  private final GymComparison comparison;

  /** A chart of a comparison. */
  public GymChart(GymComparison comparison) {
    this.comparison = comparison;
  }

  /** Returns the picture. */
  public String svg() {
    List<String> leaves = new ArrayList<>(comparison.leaves());
    leaves.add("");
    int panel = WIDTH + 2 * MARGIN;
    int height = HEIGHT + 3 * MARGIN;
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
                .formatted(panel * leaves.size(), height)
            + " font-family=\"sans-serif\" font-size=\"11\">\n"
            + "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    for (int i = 0; i < leaves.size(); i++) {
      svg.append("<g transform=\"translate(%d,%d)\">%n".formatted(i * panel + MARGIN, MARGIN));
      panel(svg, leaves.get(i));
      svg.append("</g>\n");
    }
    List<String> arms = comparison.arms();
    for (int i = 0; i < arms.size(); i++) {
      svg.append(
          "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n"
              .formatted(MARGIN + i * 110, height - 12, colour(i), arms.get(i)));
    }
    return svg.append("</svg>\n").toString();
  }

  private void panel(StringBuilder svg, String leaf) {
    svg.append(
        "<text x=\"0\" y=\"-8\">%s</text>%n"
            .formatted(leaf.isEmpty() ? "all" : MarkupText.escaped(leaf)));
    svg.append(
        "<rect width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>%n"
            .formatted(WIDTH, HEIGHT));
    svg.append(
        "<text x=\"-22\" y=\"8\">1.0</text><text x=\"-22\" y=\"%d\">0.0</text>%n"
            .formatted(HEIGHT));
    int last =
        comparison.arms().stream()
            .flatMap(arm -> comparison.of(arm).stream())
            .flatMap(trial -> trial.measured().stream())
            .mapToInt(Measured::iteration)
            .max()
            .orElse(1);
    List<String> arms = comparison.arms();
    for (int i = 0; i < arms.size(); i++) {
      StringBuilder points = new StringBuilder();
      for (int iteration : iterations(arms.get(i))) {
        double x = (double) WIDTH * iteration / Math.max(1, last);
        double y = HEIGHT * (1 - mean(arms.get(i), leaf, iteration));
        points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
      }
      svg.append(
          "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"%s\"/>%n"
              .formatted(colour(i), points.toString().strip()));
    }
    for (int iteration = 0; iteration <= last; iteration++) {
      svg.append(
          "<text x=\"%d\" y=\"%d\">%d</text>%n"
              .formatted(WIDTH * iteration / Math.max(1, last) - 3, HEIGHT + 14, iteration));
    }
  }

  private SortedSet<Integer> iterations(String arm) {
    SortedSet<Integer> all = new TreeSet<>();
    comparison.of(arm).forEach(t -> t.measured().forEach(each -> all.add(each.iteration())));
    return all;
  }

  private double mean(String arm, String leaf, int iteration) {
    List<SkillSlice> slices = new ArrayList<>();
    for (TrialState trial : comparison.of(arm)) {
      for (Measured each : trial.measured()) {
        if (each.iteration() == iteration) {
          Optional<SkillSlice> slice =
              leaf.isEmpty() ? Optional.of(each.report().overall()) : each.report().leaf(leaf);
          slice.ifPresent(slices::add);
        }
      }
    }
    return slices.stream().mapToDouble(SkillSlice::accuracy).average().orElse(0);
  }

  private static String colour(int arm) {
    return COLOURS.get(arm % COLOURS.size());
  }
}
