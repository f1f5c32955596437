package io.troupe.runtime.prompt;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.LeaseId;

/**
 * A group to produce, under its lease.
 *
 * @param prompt prompt to answer
 * @param tokens the prompt's token ids; shared, not copied
 * @param seed by which the group, or its first part, is sampled
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record Assignment(LeaseId lease, Prompt prompt, int[] tokens, long seed) {
  /**
   * The seed of a part of the group.
   *
   * @param from completions before it
   */
  public long seedOf(int from) {
    return from == 0 ? seed : mix(seed ^ mix(from));
  }
}
