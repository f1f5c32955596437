package io.troupe.console.source;

import java.util.List;

/** The prediction of a run beside what was measured of it. */
public interface RunPrediction {
  /** No prediction, of a run that has no folder here. */
  RunPrediction NONE =
      _ ->
          new Comparison(
              "refused",
              "this run has no folder here to predict it from",
              "",
              List.of(),
              List.of(),
              List.of());

  /**
   * A number of a run.
   *
   * @param name and unit
   * @param predicted mean over seeds
   * @param low the least that nine tenths of the simulated runs had
   * @param high the greatest
   * @param measured not a number while too little is measured
   * @param parts whether the two are further apart than a run and its model should be
   */
  record PredictedNumber(
      String name, double predicted, double low, double high, double measured, boolean parts) {}

  /**
   * The prediction beside the run.
   *
   * @param state {@code none}, {@code computing}, {@code ready} or {@code refused}
   * @param sentence cause of the state, or origin of the measured numbers
   * @param source of the model
   * @param alarms a sentence for each number that parts
   * @param notes limits of the prediction's worth
   */
  record Comparison(
      String state,
      String sentence,
      String source,
      List<PredictedNumber> numbers,
      List<String> alarms,
      List<String> notes) {
    public Comparison {
      numbers = List.copyOf(numbers);
      alarms = List.copyOf(alarms);
      notes = List.copyOf(notes);
    }
  }

  /**
   * The comparison as far as it is known.
   *
   * @param begin whether to begin a prediction that was not begun, which takes a thread some
   *     seconds
   */
  Comparison compare(boolean begin);
}
