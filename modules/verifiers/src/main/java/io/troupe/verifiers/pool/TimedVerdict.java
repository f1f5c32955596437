package io.troupe.verifiers.pool;

import io.troupe.core.reward.Verdict;

/**
 * A verdict and the time of its verification.
 *
 * @param millis time on a worker, without the time in the queue; 0 if the verification never
 *     reached a worker
 */
public record TimedVerdict(Verdict verdict, double millis) {}
