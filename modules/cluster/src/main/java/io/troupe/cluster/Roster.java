package io.troupe.cluster;

import io.troupe.cluster.placement.Placement;
import io.troupe.cluster.placement.Seating;
import io.troupe.cluster.placement.Share;
import java.util.Map;
import java.util.Optional;

/** The head's list of the nodes and what each does of the placement. Safe for all threads. */
public final class Roster {
  private final String headHost;
  private Seating seating;

  /**
   * Nobody is there yet.
   *
   * @param headHost host of this process, where the trainer is
   * @param placement none where nodes decide by themselves
   */
  public Roster(String headHost, Optional<Placement> placement) {
    this.headHost = headHost;
    this.seating = Seating.of(placement);
  }

  synchronized Share seat(String node, String host, int before) {
    Seating.Seated seated = seating.seat(node, host.equals(headHost), before);
    seating = seated.seating();
    return seated.share();
  }

  synchronized void left(String node) {
    seating = seating.left(node);
  }

  /** What each node that is there does, by name; empty without a placement. */
  public synchronized Map<String, Share> shares() {
    return seating.shares();
  }
}
