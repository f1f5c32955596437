package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class CurvePlotTest {
  private static final CurvePlot PLOT =
      new CurvePlot(
          "Held-out accuracy",
          "training time (s)",
          "accuracy",
          List.of(
              new CurvePlot.Series(
                  "seed 1",
                  List.of(
                      new CurvePlot.Point(0, 0.1),
                      new CurvePlot.Point(30, 0.5),
                      new CurvePlot.Point(60, Double.NaN),
                      new CurvePlot.Point(90, 0.93))),
              new CurvePlot.Series(
                  "seed 2 <b> & co",
                  List.of(new CurvePlot.Point(0, 0.12), new CurvePlot.Point(85, 0.95)))),
          List.of(new CurvePlot.Level("0.9", 0.9)));

  @Test
  void svg_twoCurves_isTheGoldenPicture() {
    assertThat(PLOT.svg()).isEqualTo(Goldens.text("curves.svg"));
  }

  @Test
  void svg_noPointOrOnePoint_hasFiniteCoordinates() {
    CurvePlot empty = new CurvePlot("t", "x", "y", List.of(), List.of());
    CurvePlot one =
        new CurvePlot(
            "t",
            "x",
            "y",
            List.of(new CurvePlot.Series("s", List.of(new CurvePlot.Point(5, 5)))),
            List.of());
    assertThat(empty.svg()).contains("</svg>").doesNotContain("NaN", "Infinity");
    assertThat(one.svg()).contains("<polyline").doesNotContain("NaN", "Infinity");
  }

  @Test
  void ticks_accuracyAxis_areRound() {
    assertThat(PlotAxis.over(new double[] {0.1, 0.95}).ticks())
        .containsExactly(new double[] {0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0});
    assertThat(PlotAxis.over(new double[] {0, 230}).ticks())
        .containsExactly(new double[] {0, 50, 100, 150, 200, 250});
    assertThat(PlotAxis.over(new double[] {1000, 1001}).ticks()[0]).isEqualTo(1000);
    assertThat(PlotAxis.over(new double[] {-3, 3}).ticks()).hasSize(7);
  }
}
