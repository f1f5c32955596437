package io.troupe.engine.protocol;

/**
 * A span of tokens of one completion that one weight version sampled, as a server reports it.
 *
 * @param tag the server's name for the weights
 * @param start index of the first token
 * @param end index after the last
 */
public record VersionSpan(String tag, int start, int end) {}
