package io.troupe.core.evaluation;

/**
 * A mean over prompts with its 95 % interval.
 *
 * @param prompts that the mean is over; with 0 the numbers are NaN
 */
public record Estimate(int prompts, double value, double low, double high) {
  /** The estimate of no sample. */
  public static final Estimate NONE = new Estimate(0, Double.NaN, Double.NaN, Double.NaN);

  public boolean isPresent() {
    return prompts > 0;
  }
}
