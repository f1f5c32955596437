package io.troupe.benchmarks.simulator;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A setting's prediction beside its measured runs.
 *
 * @param predictions one a repeat, by a model of another run of that repeat
 * @param measured one a repeat
 */
record PredictedRun(SimulatorCase setting, List<Speed> predictions, List<Speed> measured) {
  static final double MOST_ERROR = 0.1;
  private static final double MOST_VERSIONS = 0.1;

  /** Steps a second, and mean staleness. */
  record Speed(double steps, double staleness) {}

  PredictedRun {
    predictions = List.copyOf(predictions);
    measured = List.copyOf(measured);
  }

  /** The mean of the predictions. */
  Speed predicted() {
    return new Speed(mean(predictions, Speed::steps), mean(predictions, Speed::staleness));
  }

  double mean(ToDoubleFunction<Speed> number) {
    return mean(measured, number);
  }

  private static double mean(List<Speed> speeds, ToDoubleFunction<Speed> number) {
    return speeds.stream().mapToDouble(number).average().orElse(Double.NaN);
  }

  double least() {
    return measured.stream().mapToDouble(Speed::steps).min().orElse(Double.NaN);
  }

  double most() {
    return measured.stream().mapToDouble(Speed::steps).max().orElse(Double.NaN);
  }

  /** Relative error of the steps a second. */
  double stepsError() {
    return predicted().steps() / mean(Speed::steps) - 1;
  }

  /** Error of the mean staleness, in versions. */
  double stalenessError() {
    return predicted().staleness() - mean(Speed::staleness);
  }

  boolean stepsOk() {
    return Math.abs(stepsError()) <= MOST_ERROR;
  }

  boolean stalenessOk() {
    return Math.abs(stalenessError()) <= mostStalenessError();
  }

  double mostStalenessError() {
    return Math.max(MOST_VERSIONS, MOST_ERROR * mean(Speed::staleness));
  }

  /** Whether the repeats of two settings overlap, so that neither is the faster one. */
  boolean ties(PredictedRun other) {
    return least() <= other.most() && other.least() <= most();
  }

  /** Whether the prediction says which of two settings is the faster one. */
  boolean ranks(PredictedRun other) {
    return mean(Speed::steps) > other.mean(Speed::steps)
        == predicted().steps() > other.predicted().steps();
  }
}
