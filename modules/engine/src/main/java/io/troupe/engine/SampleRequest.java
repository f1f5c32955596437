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
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record SampleRequest(
    LeaseId lease, int[] prompt, int completions, SamplingSettings settings, long seed) {
  public SampleRequest {
    require(prompt.length >= 1, "a prompt has at least one token");
    require(completions >= 1, "a group has at least one completion, not %d", completions);
  }
}
