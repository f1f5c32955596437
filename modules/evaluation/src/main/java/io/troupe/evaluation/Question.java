package io.troupe.evaluation;

/**
 * A request for the samples of one prompt.
 *
 * @param seed of its first sample
 */
public record Question(EvaluationItem item, int samples, long seed) {}
