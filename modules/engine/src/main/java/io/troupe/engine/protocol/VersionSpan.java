package io.troupe.engine.protocol;

/**
 * Tokens of one completion that one version of the weights sampled, as a server tells it.
 *
 * @param tag what the server calls the weights
 * @param start index of the first token
 * @param end index after the last
 */
public record VersionSpan(String tag, int start, int end) {}
