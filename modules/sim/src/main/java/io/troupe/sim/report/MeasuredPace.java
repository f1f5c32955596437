package io.troupe.sim.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The newest steps of a run, to be held against a prediction of it.
 *
 * @param newest in order, all of one process
 */
public record MeasuredPace(List<Step> newest) {
  /** Fewer say nothing about a rate. */
  public static final int LEAST_STEPS = 20;

  /** More would hide for long that a run has become slower. */
  public static final int MOST_STEPS = 100;

  /** A prediction may be 10 % off by itself; twice that is the run's doing. */
  private static final double MOST_ERROR = 0.2;

  private static final double MOST_VERSIONS = 0.2;
  private static final double MOST_SHARE = 0.1;

  /**
   * A step that moved the weights.
   *
   * @param seconds since its process began
   * @param staleness mean, of the tokens that were trained on
   * @param trained tokens
   * @param masked tokens
   */
  public record Step(double seconds, double staleness, double trained, double masked) {}

  /**
   * A number of both.
   *
   * @param measured not a number while there are too few steps
   * @param parts whether they are further apart than model and chance explain
   */
  public record Compared(String name, Band predicted, double measured, boolean parts) {}

  public MeasuredPace {
    newest = List.copyOf(newest);
  }

  /**
   * Returns the pace of the steps at the end of a list that one process made one after the other.
   */
  public static MeasuredPace of(List<Step> rows) {
    int from = rows.size();
    while (from > 0
        && (from == rows.size() || rows.get(from - 1).seconds() <= rows.get(from).seconds())) {
      from--;
    }
    return new MeasuredPace(rows.subList(from, rows.size()));
  }

  public int steps() {
    return newest.size();
  }

  /** Whether there are enough steps. */
  public boolean enough() {
    return newest.size() >= LEAST_STEPS;
  }

  /** The numbers of the run beside those of its prediction. */
  public List<Compared> beside(Prediction prediction) {
    List<Compared> all = new ArrayList<>();
    Band rate = prediction.stepsPerSecond();
    all.add(compared("steps/s", rate, stepsPerSecond(), MOST_ERROR * rate.mean()));
    Band staleness = prediction.staleness();
    all.add(
        compared(
            "mean staleness",
            staleness,
            mean(Step::staleness),
            Math.max(MOST_VERSIONS, MOST_ERROR * staleness.mean())));
    all.add(compared("share of tokens masked", prediction.masked(), maskedShare(), MOST_SHARE));
    return all;
  }

  private Compared compared(String name, Band predicted, double measured, double most) {
    double shown = enough() ? measured : Double.NaN;
    boolean outside = shown < predicted.low() || shown > predicted.high();
    return new Compared(
        name, predicted, shown, outside && Math.abs(shown - predicted.mean()) > most);
  }

  private double stepsPerSecond() {
    return newest.isEmpty()
        ? Double.NaN
        : (newest.size() - 1) / (newest.getLast().seconds() - newest.getFirst().seconds());
  }

  private double maskedShare() {
    double masked = newest.stream().mapToDouble(Step::masked).sum();
    double trained = newest.stream().mapToDouble(Step::trained).sum();
    return masked / (masked + trained);
  }

  private double mean(ToDoubleFunction<Step> number) {
    return newest.stream().mapToDouble(number).average().orElse(Double.NaN);
  }
}
