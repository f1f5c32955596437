package io.troupe.cluster;

/**
 * What a node needs to know of the run it works for.
 *
 * @param run its name
 * @param folder the run folder, on all hosts the same path
 * @param token written into the folder by the head: who reads another one, or none, sees another
 *     folder
 * @param configuration resolved, as YAML
 */
public record Terms(String run, String folder, String token, String configuration) {}
