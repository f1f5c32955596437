package io.troupe.engine;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.LeaseId;

/**
 * A request to sample one group. The request takes over the prompt's array without a copy.
 *
 * @param lease under which the group is sampled; unique among the requests that an engine holds
 * @param prompt token ids, at least one
 * @param completions G, the number of completions to sample
 * @param settings of the sampling
 * @param seed of the random numbers: the same seed, weights and prompt give the same completions,
 *     whatever else the engine decodes beside them
 * @param listener that receives every token when it is sampled
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record SampleRequest(
    LeaseId lease,
    int[] prompt,
    int completions,
    SamplingSettings settings,
    long seed,
    TokenListener listener) {
  public SampleRequest {
    require(prompt.length >= 1, "a prompt has at least one token");
    require(completions >= 1, "a group has at least one completion, not %d", completions);
  }

  /** Creates a request without a listener. */
  public SampleRequest(
      LeaseId lease, int[] prompt, int completions, SamplingSettings settings, long seed) {
    this(lease, prompt, completions, settings, seed, TokenListener.NONE);
  }

  /** Returns this request with another listener. */
  public SampleRequest withListener(TokenListener other) {
    return new SampleRequest(lease, prompt, completions, settings, seed, other);
  }

  /** Returns this request with other settings. */
  public SampleRequest withSettings(SamplingSettings other) {
    return new SampleRequest(lease, prompt, completions, other, seed, listener);
  }
}
