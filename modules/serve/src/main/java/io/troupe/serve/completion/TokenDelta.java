package io.troupe.serve.completion;

/**
 * Tokens of one choice that were not sent yet.
 *
 * @param from index of the first token in the completion
 * @param versions the weight version of each token
 * @param finish why the choice ended, or empty
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TokenDelta(
    int choice, int from, int[] tokens, float[] logProbs, long[] versions, String finish) {}
