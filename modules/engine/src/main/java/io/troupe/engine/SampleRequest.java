package io.troupe.engine;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.LeaseId;

/**
 * A group to sample. The prompt's array is handed over, not copied.
 *
 * @param lease whose work this is; unique among the requests an engine holds
 * @param prompt token ids, at least one
 * @param completions G, how many to sample
 * @param settings how
 * @param seed of the group's draws: the same seed, weights and prompt give the same draws, whatever
 *     else the engine decodes beside them
 * @param listener to every token, as it is drawn
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

  /** A group whose tokens nobody hears of before it is whole. */
  public SampleRequest(
      LeaseId lease, int[] prompt, int completions, SamplingSettings settings, long seed) {
    this(lease, prompt, completions, settings, seed, TokenListener.NONE);
  }

  /** The same group, with somebody who hears of its tokens. */
  public SampleRequest withListener(TokenListener other) {
    return new SampleRequest(lease, prompt, completions, settings, seed, other);
  }
}
