package io.troupe.verifiers.pool;

import io.troupe.core.reward.Verdict;

/**
 * A verdict and what it took.
 *
 * @param millis on a worker, waiting for one left out; 0 if it never reached one
 */
public record TimedVerdict(Verdict verdict, double millis) {}
