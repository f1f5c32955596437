package io.troupe.console.source;

import java.util.List;

/**
 * The facts that the coordinator of a cluster knows of a node.
 *
 * @param node name of the node
 * @param placement the node's part of the run's placement, idle GPUs among it; empty without one
 * @param version newest weights in its cache; -1 where it has none, or they lie in a shared folder
 * @param behind versions it lacks
 * @param trouble why no other node takes weights from it at the moment; empty when they may
 * @param transfers the last of weights to it, oldest first
 */
public record NodeFacts(
    String node,
    String placement,
    long version,
    long behind,
    String trouble,
    List<Transfer> transfers) {
  public NodeFacts {
    transfers = List.copyOf(transfers);
  }

  /**
   * A transfer of weights to a node that has ended.
   *
   * @param at time of the transfer, in milliseconds since 1970 by the coordinator's clock
   * @param digest of the weights' manifest, hexadecimal, verified by the node if they came
   * @param fetched bytes that came over the network
   * @param reused bytes taken from the version before
   * @param failure why they did not come; empty when they did
   */
  public record Transfer(
      long at,
      long version,
      String digest,
      long fetched,
      long reused,
      long millis,
      String failure) {}
}
