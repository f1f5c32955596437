package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.placement.Placement;
import io.troupe.cluster.placement.Seating;
import io.troupe.cluster.placement.Share;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

/** The head's list of the nodes and what each does of the placement. Safe for all threads. */
public final class Roster {
  private final String headHost;
  private final AtomicReference<Optional<NodeListener>> listener =
      new AtomicReference<>(Optional.empty());
  private final Map<String, HostPort> addresses = new TreeMap<>();
  private Seating seating;

  /**
   * Nobody is there yet.
   *
   * @param headHost host of this process, where the trainer is
   * @param placement none where nodes decide by themselves
   * @param ranks whether the nodes start the trainer's ranks
   * @param begins whether the run begins, so that no node is at work for it yet
   */
  public Roster(String headHost, Optional<Placement> placement, boolean ranks, boolean begins) {
    this.headHost = headHost;
    this.seating = Seating.of(placement, ranks, begins);
  }

  /** Takes the GPUs of its host that the head computes on, before any node comes. */
  public synchronized void headOn(Set<Integer> gpus) {
    seating = seating.headOn(gpus);
  }

  /** Reports to a listener from now on which nodes come and go. */
  public void reportTo(NodeListener one) {
    listener.set(Optional.of(one));
  }

  /** Passes on what ends processes of nodes. */
  void stopProcessesWith(NodeListener.ProcessStopper stopper) {
    listener.get().ifPresent(one -> one.stopProcessesWith(stopper));
  }

  /**
   * Gives a node a seat, or lets it wait.
   *
   * @param before {@link Share#seat} of what it does under a former head
   */
  synchronized Share seat(String node, String host, int before) {
    Seating.Seated seated = seating.seat(new Seating.Waiting(node, host.equals(headHost), before));
    seating = seated.seating();
    return seated.share();
  }

  synchronized void met(String node, HostPort at) {
    addresses.put(node, at);
  }

  /** Where the nodes that are there are reached. */
  public synchronized List<HostPort> addresses() {
    return List.copyOf(addresses.values());
  }

  /** An agent of this name is there; {@link #left} when it is gone. */
  void joined(String node) {
    listener.get().ifPresent(one -> one.joined(node));
  }

  /**
   * An agent is gone; if it was on the head's host, its seat is kept for the next one until {@link
   * #settle}.
   *
   * @param last whether no other agent of this name is there
   * @return what nodes that waited do from now on, by name
   */
  synchronized Map<String, Share> left(String node, boolean last) {
    listener.get().ifPresent(one -> one.left(node));
    if (!last) {
      return Map.of();
    }
    Map<String, Share> shares = called(seating.left(node, besideHead(node)));
    addresses.remove(node);
    return shares;
  }

  /**
   * A node cannot take up its seat.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, Share> unfit(String node, int seat) {
    return called(seating.unfit(node, besideHead(node), seat));
  }

  /**
   * All nodes of the cluster have come.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, Share> attended() {
    return called(seating.attended());
  }

  private boolean besideHead(String node) {
    return Optional.ofNullable(addresses.get(node))
        .filter(at -> at.host().equals(headHost))
        .isPresent();
  }

  /**
   * Who was at work under a former head has come by now, and who was started again.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, Share> settle() {
    return called(seating.settle());
  }

  private Map<String, Share> called(Seating.Called called) {
    seating = called.seating();
    return called.shares();
  }

  /** What each node that is there does, by name; empty without a placement. */
  public synchronized Map<String, Share> shares() {
    return seating.shares();
  }
}
