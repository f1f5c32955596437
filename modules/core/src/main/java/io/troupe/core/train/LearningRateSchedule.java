package io.troupe.core.train;

import static io.troupe.core.Require.require;

/**
 * The learning rate of each step: a linear warm-up to the peak, then a decay to the floor.
 *
 * <p>Steps count from 1. With W = warmupSteps, T the steps of the run, and s0 = max(W, 1):
 *
 * <pre>
 *   rate(s) = peak s/W                                            s &lt;= W
 *           = peak (1 - (1 - floorShare) g(x))                    after it, x = (s - s0)/(T - s0)
 *   g(x)    = 0                     CONSTANT
 *           = x                     LINEAR
 *           = (1 - cos(pi x))/2     COSINE (Loshchilov and Hutter 2017, eq. 5)
 * </pre>
 *
 * <p>No step is spent at a rate of 0 before the warm-up: its first step has peak/W and its last the
 * peak. The last step of the run has the floor, unless the warm-up takes all of it. The rate is a
 * function of the step alone, so a resumed run needs no state to continue.
 *
 * @param peak highest rate, 0 or greater
 * @param warmupSteps W, 0 or greater
 * @param decay shape of the way down
 * @param floorShare rate of the last step, as a share of the peak, in [0, 1]; without effect when
 *     the decay is constant
 */
public record LearningRateSchedule(double peak, int warmupSteps, Decay decay, double floorShare) {
  /**
   * The advice of a run that ends because no step has a finite loss. Programs that start runs know
   * divergence from other failures by it.
   */
  public static final String LOWER_RATE = "lower training.learning_rate";

  /** Shape of the way from the peak to the floor. */
  public enum Decay {
    /** Stays at the peak. */
    CONSTANT,
    /** Falls by the same amount each step. */
    LINEAR,
    /** Falls along half a cosine: slowly, fast in the middle, slowly. */
    COSINE
  }

  public LearningRateSchedule {
    require(
        peak >= 0 && Double.isFinite(peak),
        "the peak learning rate is a finite number, 0 or greater, not %s",
        peak);
    require(warmupSteps >= 0, "warm-up steps are 0 or more, not %d", warmupSteps);
    require(
        floorShare >= 0 && floorShare <= 1,
        "the floor of the learning rate is a share of the peak in [0, 1], not %s",
        floorShare);
  }

  /**
   * The rate of one step.
   *
   * @param step from 1 to {@code totalSteps}
   * @param totalSteps of the run
   */
  public double at(long step, long totalSteps) {
    require(
        step >= 1 && step <= totalSteps,
        "step %d has no learning rate: steps count from 1 to %d",
        step,
        totalSteps);
    if (step <= warmupSteps) {
      return peak * ((double) step / warmupSteps);
    }
    long start = Math.max(warmupSteps, 1);
    // A run of a single step without warm-up starts and ends at once: it has the peak.
    double x = step == start ? 0 : (double) (step - start) / (totalSteps - start);
    return peak * (1 - (1 - floorShare) * fallen(x));
  }

  private double fallen(double x) {
    return switch (decay) {
      case CONSTANT -> 0;
      case LINEAR -> x;
      case COSINE -> (1 - Math.cos(Math.PI * x)) / 2;
    };
  }
}
