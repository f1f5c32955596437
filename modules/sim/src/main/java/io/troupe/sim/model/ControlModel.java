package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * The coordinator's own delays, and how well the rest is known.
 *
 * @param messageSeconds one way between coordinator and workers, the journal included
 * @param parameterSigma relative standard error of the speeds of decoding and training: each seed
 *     of a range draws them from it
 * @param cores that trainer and workers of one process share; 0 where they share none
 * @param backgroundThreads of that process that compute for neither, on average
 */
public record ControlModel(
    double messageSeconds, double parameterSigma, double cores, double backgroundThreads) {
  public ControlModel {
    require(messageSeconds >= 0, "control.message_seconds is not negative");
    require(
        cores >= 0 && backgroundThreads >= 0,
        "control.cores and control.background_threads are not negative");
    require(
        parameterSigma >= 0 && parameterSigma <= 1,
        "control.parameter_sigma lies in [0, 1], not %s",
        parameterSigma);
  }
}
