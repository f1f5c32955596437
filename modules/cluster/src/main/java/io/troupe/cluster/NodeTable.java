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

/** The coordinator's table of the nodes and their assignments. Thread-safe. */
public final class NodeTable {
  private final String coordinatorHost;
  private final AtomicReference<Optional<NodeListener>> listener =
      new AtomicReference<>(Optional.empty());
  private final Map<String, HostPort> addresses = new TreeMap<>();
  private NodeAllocation allocation;

  /**
   * A table without nodes.
   *
   * @param coordinatorHost host of this process, where the trainer runs
   * @param placement empty if the nodes choose their processes themselves
   * @param ranks whether the nodes start the trainer's ranks
   * @param newRun whether the run starts now, so that no node works for it yet
   */
  public NodeTable(
      String coordinatorHost, Optional<Placement> placement, boolean ranks, boolean newRun) {
    this.coordinatorHost = coordinatorHost;
    this.allocation = NodeAllocation.of(placement, ranks, newRun);
  }

  /**
   * Reserves the GPUs of its host that the coordinator computes on. Called before any node
   * registers.
   */
  public synchronized void reserveCoordinatorGpus(Set<Integer> gpus) {
    allocation = allocation.coordinatorGpus(gpus);
  }

  /** Reports from now on to a listener which nodes join and leave. */
  public void reportTo(NodeListener reported) {
    listener.set(Optional.of(reported));
  }

  /** Passes on the function that stops processes of nodes. */
  void stopProcessesWith(NodeListener.ProcessStopper stopper) {
    listener.get().ifPresent(one -> one.stopProcessesWith(stopper));
  }

  /**
   * Assigns a slot to a node, or lets the node wait.
   *
   * @param previousSlot {@link NodeAssignment#slot} of its assignment under the former coordinator
   */
  synchronized NodeAssignment allocate(String node, String host, int previousSlot) {
    NodeAllocation.Allocated allocated =
        allocation.allocate(
            new NodeAllocation.WaitingNode(node, host.equals(coordinatorHost), previousSlot));
    allocation = allocated.allocation();
    return allocated.assignment();
  }

  synchronized void recordAddress(String node, HostPort at) {
    addresses.put(node, at);
  }

  /** The addresses of all present nodes. */
  public synchronized List<HostPort> addresses() {
    return List.copyOf(addresses.values());
  }

  /** An agent of this name has joined; {@link #left} follows when it is gone. */
  void joined(String node) {
    listener.get().ifPresent(one -> one.joined(node));
  }

  /**
   * An agent is gone. If it was on the coordinator's host, its slot is reserved for its successor
   * until {@link #settle}.
   *
   * @param lastAgent whether no other agent of this name is present
   * @return new assignments of nodes that waited, by name
   */
  synchronized Map<String, NodeAssignment> left(String node, boolean lastAgent) {
    listener.get().ifPresent(one -> one.left(node));
    if (!lastAgent) {
      return Map.of();
    }
    Map<String, NodeAssignment> assignments = apply(allocation.left(node, onCoordinatorHost(node)));
    addresses.remove(node);
    return assignments;
  }

  /**
   * A node cannot take its slot.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, NodeAssignment> reject(String node, int slot) {
    return apply(allocation.rejected(node, onCoordinatorHost(node), slot));
  }

  /**
   * Notes that all nodes of the cluster have registered.
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
   * Every node that worked for the former coordinator, or was restarted, has had the time to
   * register.
   *
   * @return as {@link #left}
   */
  synchronized Map<String, NodeAssignment> settle() {
    return apply(allocation.settle());
  }

  private Map<String, NodeAssignment> apply(NodeAllocation.Reassigned reassigned) {
    allocation = reassigned.allocation();
    return reassigned.assignments();
  }

  /** The assignment of every present node, by name; empty without a placement. */
  public synchronized Map<String, NodeAssignment> assignments() {
    return allocation.assignments();
  }
}
