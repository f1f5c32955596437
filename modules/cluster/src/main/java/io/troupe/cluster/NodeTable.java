package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import io.troupe.hosts.placement.NodeAllocation;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.hosts.placement.Placement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

/** The head's list of the nodes and what each does of the placement. Safe for all threads. */
public final class NodeTable {
  private final String coordinatorHost;
  private final AtomicReference<Optional<NodeListener>> listener =
      new AtomicReference<>(Optional.empty());
  private final Map<String, HostPort> addresses = new TreeMap<>();
  private NodeAllocation allocation;

  /**
   * Nobody is there yet.
   *
   * @param headHost host of this process, where the trainer is
   * @param placement none where nodes decide by themselves
   * @param ranks whether the nodes start the trainer's ranks
   * @param begins whether the run begins, so that no node is at work for it yet
   */
  public NodeTable(String headHost, Optional<Placement> placement, boolean ranks, boolean begins) {
    this.coordinatorHost = headHost;
    this.allocation = NodeAllocation.of(placement, ranks, begins);
  }

  /** Takes the GPUs of its host that the head computes on, before any node comes. */
  public synchronized void reserveCoordinatorGpus(Set<Integer> gpus) {
    allocation = allocation.coordinatorGpus(gpus);
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
   * @param before {@link NodeAssignment#slot} of what it does under a former head
   */
  synchronized NodeAssignment allocate(String node, String host, int before) {
    NodeAllocation.Allocated seated =
        allocation.allocate(
            new NodeAllocation.WaitingNode(node, host.equals(coordinatorHost), before));
    allocation = seated.allocation();
    return seated.assignment();
  }

  synchronized void recordAddress(String node, HostPort at) {
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
  synchronized Map<String, NodeAssignment> left(String node, boolean last) {
    listener.get().ifPresent(one -> one.left(node));
    if (!last) {
      return Map.of();
    }
    Map<String, NodeAssignment> shares = apply(allocation.left(node, onCoordinatorHost(node)));
    addresses.remove(node);
    return shares;
  }

  /**
   * A node cannot take up its seat.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, NodeAssignment> reject(String node, int seat) {
    return apply(allocation.rejected(node, onCoordinatorHost(node), seat));
  }

  /**
   * All nodes of the cluster have come.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, NodeAssignment> allRegistered() {
    return apply(allocation.allRegistered());
  }

  private boolean onCoordinatorHost(String node) {
    return Optional.ofNullable(addresses.get(node))
        .filter(at -> at.host().equals(coordinatorHost))
        .isPresent();
  }

  /**
   * Who was at work under a former head has come by now, and who was started again.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, NodeAssignment> settle() {
    return apply(allocation.settle());
  }

  private Map<String, NodeAssignment> apply(NodeAllocation.Reassigned called) {
    allocation = called.allocation();
    return called.assignments();
  }

  /** What each node that is there does, by name; empty without a placement. */
  public synchronized Map<String, NodeAssignment> assignments() {
    return allocation.assignments();
  }
}
