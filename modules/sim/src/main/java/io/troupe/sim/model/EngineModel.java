package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * A rollout worker's engine.
 *
 * @param prefillSecondsPerToken of a prompt, in which nothing is decoded
 * @param prefillSeconds of each group that joins, whatever its prompt
 * @param startSeconds from the start of a worker until it takes groups
 * @param stragglerSigma standard deviation of the logarithm of a worker's persistent slowness
 */
public record EngineModel(
    DecodeModel decode,
    double prefillSecondsPerToken,
    double prefillSeconds,
    double startSeconds,
    double stragglerSigma) {
  public EngineModel {
    require(
        prefillSecondsPerToken >= 0 && prefillSeconds >= 0 && startSeconds >= 0,
        "the seconds of engine are not negative");
    require(
        stragglerSigma >= 0 && stragglerSigma <= 1,
        "engine.straggler_sigma lies in [0, 1], not %s",
        stragglerSigma);
  }
}
