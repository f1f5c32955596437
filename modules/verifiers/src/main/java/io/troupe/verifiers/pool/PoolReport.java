package io.troupe.verifiers.pool;

/**
 * What a pool has done since it was opened.
 *
 * @param verifier whose pool
 * @param waiting verifications in the queue now
 * @param running verifications on a worker now
 * @param scored verdicts with a reward
 * @param timeouts verifications ended at their deadline
 * @param crashes verifications that failed, or whose process died
 * @param badInputs verifications of prompts that cannot be judged
 * @param restarts worker processes that took the place of another
 * @param millisP50 median time of a verification on a worker, waiting left out
 * @param millisP99 the time that one verification in a hundred exceeds
 * @param millisMax the longest
 * @param quarantined whether the verifier is under quarantine
 */
public record PoolReport(
    String verifier,
    int waiting,
    int running,
    long scored,
    long timeouts,
    long crashes,
    long badInputs,
    long restarts,
    double millisP50,
    double millisP99,
    double millisMax,
    boolean quarantined) {}
