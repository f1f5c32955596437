package io.troupe.serve;

/**
 * Tokens of one choice that were not told yet.
 *
 * @param from index of the first of them in the completion
 * @param versions number of the weights of each
 * @param finish why it ended, or empty
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record TokenDelta(
    int choice, int from, int[] tokens, float[] logProbs, long[] versions, String finish) {}
