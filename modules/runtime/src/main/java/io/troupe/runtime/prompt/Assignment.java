package io.troupe.runtime.prompt;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.LeaseId;

/**
 * A group to produce, under its lease.
 *
 * @param prompt what to answer
 * @param tokens the prompt's token ids; shared, not copied
 * @param seed by which the group is sampled
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record Assignment(LeaseId lease, Prompt prompt, int[] tokens, long seed) {}
