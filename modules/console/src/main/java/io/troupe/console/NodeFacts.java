package io.troupe.console;

/**
 * What the head of a cluster knows of a node.
 *
 * @param node its name
 * @param placement what it does of the run's placement, idle GPUs among it; empty without one
 * @param version newest weights in its cache; -1 where it has none, or they lie in a shared folder
 * @param behind versions it lacks
 * @param trouble why no other node takes weights from it at the moment; empty when they may
 */
public record NodeFacts(String node, String placement, long version, long behind, String trouble) {}
