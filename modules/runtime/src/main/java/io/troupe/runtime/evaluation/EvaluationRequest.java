package io.troupe.runtime.evaluation;

import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;

/**
 * A prompt of an evaluation as it travels to a worker.
 *
 * @param prompt token ids
 * @param seed of the random numbers, which depends on the prompt and on no worker
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record EvaluationRequest(
    int[] prompt, int completions, SamplingSettings settings, long seed) {
  public static EvaluationRequest of(SampleRequest request) {
    return new EvaluationRequest(
        request.prompt(), request.completions(), request.settings(), request.seed());
  }

  /** Returns this request for an engine, under a lease of the caller. */
  public SampleRequest under(LeaseId lease) {
    return new SampleRequest(lease, prompt, completions, settings, seed);
  }
}
