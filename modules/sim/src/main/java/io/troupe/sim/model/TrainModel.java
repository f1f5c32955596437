package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * The duration of a training step: base + tokens · per token / ranks + the time of the ranks'
 * exchange.
 *
 * @param baseSeconds of a step, whatever it trains on
 * @param tokenSeconds of one token of one completion on one rank
 * @param rankSeconds that each doubling of the ranks adds
 * @param checkpointSeconds the trainer is held up by a checkpoint
 * @param sigma standard deviation of the logarithm of a step's time
 */
public record TrainModel(
    double baseSeconds,
    double tokenSeconds,
    double rankSeconds,
    double checkpointSeconds,
    double sigma) {
  public TrainModel {
    require(
        baseSeconds >= 0 && tokenSeconds >= 0 && rankSeconds >= 0 && checkpointSeconds >= 0,
        "the seconds of training are not negative");
    require(
        baseSeconds + tokenSeconds > 0,
        "training: one of base_seconds and token_seconds is above 0");
    require(sigma >= 0 && sigma <= 1, "training.sigma lies in [0, 1], not %s", sigma);
  }

  /** Seconds of a step. */
  public double seconds(long tokens, int ranks) {
    double doublings = StrictMath.log(ranks) / StrictMath.log(2);
    return baseSeconds + tokens * tokenSeconds / ranks + rankSeconds * doublings;
  }
}
