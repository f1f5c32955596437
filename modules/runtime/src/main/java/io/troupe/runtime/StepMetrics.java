package io.troupe.runtime;

import io.troupe.core.train.CompletionStatistics;
import io.troupe.engine.train.StepOutcome;
import io.troupe.telemetry.StepMeter;

/**
 * The trainer's report of a step.
 *
 * @param outcome of the engine
 * @param learningRate of the step
 * @param trainedTokens completion tokens with loss weight
 * @param maskedTokens completion tokens without, because they are stale
 * @param stalenessMax greatest staleness of a trained token, in versions
 * @param stalenessMean mean staleness of trained tokens, in versions
 * @param seconds from the first to the last computation of the step
 * @param completions of the step, however they were weighed
 */
public record StepMetrics(
    StepOutcome.Stepped outcome,
    double learningRate,
    long trainedTokens,
    long maskedTokens,
    long stalenessMax,
    double stalenessMean,
    double seconds,
    CompletionStatistics completions) {
  /** The numbers, as the meter takes them. */
  public StepMeter.Reading reading() {
    return new StepMeter.Reading(
        outcome.metrics(),
        outcome.entropy(),
        outcome.gradientNorm(),
        outcome.paddingShare(),
        outcome.times().gradient(),
        outcome.times().optimizer(),
        outcome.times().reference(),
        learningRate,
        trainedTokens,
        maskedTokens,
        stalenessMax,
        stalenessMean,
        seconds,
        completions);
  }
}
