package io.troupe.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.sim.model.Scenario;
import io.troupe.sim.report.MeasuredPace;
import io.troupe.sim.report.Prediction;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The newest steps of a run beside its prediction. */
class MeasuredPaceTest {
  private static List<MeasuredPace.Step> steps(int count, double seconds, double staleness) {
    List<MeasuredPace.Step> steps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      steps.add(new MeasuredPace.Step(100 + i * seconds, staleness, 900, 0));
    }
    return steps;
  }

  private static Prediction prediction() {
    Scenario scenario = new Scenarios().steps(60).build();
    return new Prediction(scenario, Simulation.runs(scenario, 1, 3), List.of());
  }

  @Test
  void beside_runOfAboutThePredictedPace_partsNowhere() {
    Prediction prediction = prediction();
    double seconds = 1.15 / prediction.stepsPerSecond().mean();

    List<MeasuredPace.Compared> all =
        MeasuredPace.of(steps(50, seconds, prediction.staleness().mean() + 0.15))
            .beside(prediction);

    assertThat(all).extracting(MeasuredPace.Compared::parts).containsOnly(false);
    assertThat(all.getFirst().measured()).isCloseTo(1 / seconds, within(1e-9));
  }

  @Test
  void beside_slowerAndStalerRun_partsInBoth() {
    Prediction prediction = prediction();
    double seconds = 1.4 / prediction.stepsPerSecond().mean();

    List<MeasuredPace.Compared> all =
        MeasuredPace.of(steps(50, seconds, prediction.staleness().mean() + 1)).beside(prediction);

    assertThat(all)
        .filteredOn(MeasuredPace.Compared::parts)
        .extracting(MeasuredPace.Compared::name)
        .containsExactly("steps/s", "mean staleness");
  }

  @Test
  void of_runThatWasResumed_takesTheStepsOfItsLastProcess() {
    List<MeasuredPace.Step> steps = new ArrayList<>(steps(40, 1, 0));
    steps.addAll(steps(19, 1, 0));

    MeasuredPace pace = MeasuredPace.of(steps);

    assertThat(pace.steps()).isEqualTo(19);
    assertThat(pace.enough()).isFalse();
    assertThat(pace.beside(prediction()))
        .allMatch(one -> Double.isNaN(one.measured()) && !one.parts());
  }
}
