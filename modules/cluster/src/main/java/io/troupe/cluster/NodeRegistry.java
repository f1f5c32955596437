package io.troupe.cluster;

import akka.actor.Address;
import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import akka.actor.typed.receptionist.Receptionist;
import akka.actor.typed.receptionist.ServiceKey;
import akka.cluster.ClusterEvent;
import akka.cluster.Member;
import akka.cluster.typed.Cluster;
import akka.cluster.typed.Down;
import akka.cluster.typed.Subscribe;
import io.troupe.base.net.HostPort;
import io.troupe.core.run.Input;
import io.troupe.core.weights.WeightVersion;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Run;
import io.troupe.runtime.WireMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Registers the nodes and workers of other JVMs that work for a run. It runs beside the
 * coordinator, and they find it through the receptionist.
 *
 * <p>It reports a worker as lost as soon as its JVM is unreachable, seconds before the cluster
 * removes that JVM, so that its leases return early. If such a worker becomes reachable again, it
 * is evicted and registers under another name.
 */
public final class NodeRegistry extends AbstractOnMessageBehavior<NodeRegistry.Command> {
  /** The name of the actor and of its service. */
  static final String NAME = "node-registry";

  /** The receptionist's key. */
  public static final ServiceKey<Command> SERVICE_KEY = ServiceKey.create(Command.class, NAME);

  public sealed interface Command {}

  /**
   * A node asks for an assignment. A spare node asks at intervals.
   *
   * @param run the run that the node works for; empty if there is none
   * @param slot {@link NodeAssignment#slot} of its assignment in that run; that of {@link
   *     NodeAssignment#UNMANAGED} before it has one
   */
  public record RegisterNode(String node, String run, int slot, ActorRef<NodeAgent.Command> replyTo)
      implements Command, WireMessage {}

  /** A node cannot take the slot that it was assigned. It has reported the reason already. */
  public record RejectAssignment(String node, String run, int slot)
      implements Command, WireMessage {}

  /** The JVM of a worker registers. */
  public record RegisterWorker(String worker, long pid, ActorRef<WorkerHost.Command> replyTo)
      implements Command, WireMessage {}

  /** A process of a node has ended. */
  public record ReportChildEnd(String child, long pid) implements Command, WireMessage {}

  /** A node's weight server is open. From now on the node takes part in transfers. */
  public record AnnounceWeightServer(String node, String server) implements Command, WireMessage {}

  /**
   * A transfer to a node has ended.
   *
   * @param digest of the weights' manifest, which the node has verified if the transfer succeeded
   * @param fetched bytes received over the network
   * @param reused bytes copied from the previous version
   * @param abandoned sources that the node stopped using
   * @param failure why the transfer failed; empty if it succeeded
   */
  public record ReportTransfer(
      String node,
      long version,
      String digest,
      long fetched,
      long reused,
      long millis,
      List<AbandonedSource> abandoned,
      String failure)
      implements Command, WireMessage {
    /**
     * A source that the node replaced by another; {@code faulty} unless it merely lacked the
     * weights.
     */
    public record AbandonedSource(String server, String reason, boolean faulty) {}

    public ReportTransfer {
      abandoned = List.copyOf(abandoned);
    }
  }

  /** A sentence for the operator of the run. */
  public record NotifyOperator(String sentence) implements Command, WireMessage {}

  /** The run is over. */
  record Close(boolean complete) implements Command {}

  private record StopChild(String node, String child, long pid) implements Command {}

  private record MemberUnreachable(Address address) implements Command {}

  private record NodeTerminated(String node, ActorRef<NodeAgent.Command> agent)
      implements Command {}

  private record SettlingTimeElapsed() implements Command {}

  private record WorkerHostTerminated(ActorRef<WorkerHost.Command> host) implements Command {}

  /**
   * The time in which nodes that worked for the former coordinator register here, and in which a
   * restarted node on the coordinator's host registers again.
   */
  private static final Duration SETTLING_TIME = Duration.ofSeconds(20);

  private final TimerScheduler<Command> timers;
  private final RunDescriptor descriptor;
  private final Run.RunActors actors;
  private final WeightDistribution distribution;
  private final NodeTable nodeTable;
  private final Consumer<String> notes;
  private final Map<ActorRef<NodeAgent.Command>, String> nodes = new HashMap<>();
  private final Map<ActorRef<WorkerHost.Command>, ReportChildEnd> hosts = new HashMap<>();

  /** A registry for one run. */
  static Behavior<Command> create(
      RunDescriptor descriptor,
      Run.RunActors actors,
      WeightDistribution distribution,
      NodeTable nodeTable,
      Consumer<String> notes) {
    return Behaviors.withTimers(
        timers -> {
          timers.startSingleTimer(new SettlingTimeElapsed(), SETTLING_TIME);
          return Behaviors.setup(
              context ->
                  new NodeRegistry(
                      context, timers, descriptor, actors, distribution, nodeTable, notes));
        });
  }

  private NodeRegistry(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      RunDescriptor descriptor,
      Run.RunActors actors,
      WeightDistribution distribution,
      NodeTable nodeTable,
      Consumer<String> notes) {
    super(context);
    this.timers = timers;
    this.distribution = distribution;
    this.nodeTable = nodeTable;
    this.descriptor = descriptor;
    this.actors = actors;
    this.notes = notes;
    ActorRef<ClusterEvent.UnreachableMember> unreachable =
        context.messageAdapter(
            ClusterEvent.UnreachableMember.class,
            event -> new MemberUnreachable(event.member().address()));
    Cluster.get(context.getSystem())
        .subscriptions()
        .tell(Subscribe.create(unreachable, ClusterEvent.UnreachableMember.class));
    ActorRef<Command> self = context.getSelf();
    nodeTable.stopProcessesWith((node, child, pid) -> self.tell(new StopChild(node, child, pid)));
    context.getSystem().receptionist().tell(Receptionist.register(SERVICE_KEY, self));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case RegisterNode request -> onRegisterNode(request);
      case RejectAssignment(String node, String run, int slot) ->
          onRejectAssignment(node, run, slot);
      case RegisterWorker registration -> onRegisterWorker(registration);
      case ReportChildEnd ended -> onReportChildEnd(ended);
      case AnnounceWeightServer(String node, String server) -> distribution.joined(node, server);
      case ReportTransfer report -> distribution.apply(report).forEach(this::onDistributionChange);
      case NodeTerminated(String node, ActorRef<NodeAgent.Command> agent) ->
          onNodeTerminated(node, agent);
      case NotifyOperator(String sentence) -> notes.accept(sentence);
      case StopChild(String node, String child, long pid) ->
          nodes.keySet().forEach(agent -> agent.tell(new NodeAgent.StopChild(node, child, pid)));
      case MemberUnreachable(Address address) -> onMemberUnreachable(address);
      case SettlingTimeElapsed _ -> offer(nodeTable.settle());
      case WorkerHostTerminated(ActorRef<WorkerHost.Command> host) -> hosts.remove(host);
      case Close(boolean complete) -> {
        return onClose(complete);
      }
    }
    return this;
  }

  private void onDistributionChange(WeightDistributionState.Change change) {
    notes.accept(change.text());
    WeightVersion version = new WeightVersion(change.version());
    actors
        .coordinator()
        .tell(
            new Coordinator.Tell(
                switch (change) {
                  case WeightDistributionState.Missed(String node, long _, String reason) ->
                      new Input.NodeSkipped(node, version, reason);
                  case WeightDistributionState.SlowedOthers(String node, long _, String reason) ->
                      new Input.NodeSkipped(node, version, "it delayed other nodes: " + reason);
                  case WeightDistributionState.CaughtUp(String node, long _) ->
                      new Input.NodeCaughtUp(node, version);
                }));
  }

  private void onRegisterNode(RegisterNode request) {
    String node = request.node();
    ActorRef<NodeAgent.Command> replyTo = request.replyTo();
    Address address = replyTo.path().address();
    int previousSlot =
        request.run().equals(descriptor.run()) ? request.slot() : NodeAssignment.UNMANAGED.slot();
    NodeAssignment assignment =
        nodeTable.allocate(node, address.getHost().orElse(""), previousSlot);
    if (nodes.put(replyTo, node) == null) {
      nodeTable.joined(node);
      address
          .getHost()
          .ifPresent(
              host ->
                  nodeTable.recordAddress(node, new HostPort(host, address.getPort().orElse(0))));
      notes.accept(
          "node %s joined%s".formatted(node, assignment.placed() ? ", " + assignment.text() : ""));
      getContext().watchWith(replyTo, new NodeTerminated(node, replyTo));
    }
    replyTo.tell(new NodeAgent.AssignmentOffered(descriptor, assignment, getContext().getSelf()));
    if (allNodesRegistered()) {
      offer(nodeTable.allRegistered());
    }
  }

  /** Whether every node in the cluster has registered. */
  private boolean allNodesRegistered() {
    Set<Address> registered =
        nodes.keySet().stream().map(agent -> agent.path().address()).collect(Collectors.toSet());
    Iterable<Member> members = Cluster.get(getContext().getSystem()).state().getMembers();
    return StreamSupport.stream(members.spliterator(), false)
        .filter(member -> member.hasRole(ClusterSettings.ClusterRole.NODE.akkaName()))
        .allMatch(member -> registered.contains(member.address()));
  }

  private void onRejectAssignment(String node, String run, int slot) {
    if (run.equals(descriptor.run())) {
      notes.accept(
          "node %s cannot be node %d of the placement; another one may".formatted(node, slot));
      offer(nodeTable.reject(node, slot));
    }
  }

  private void onRegisterWorker(RegisterWorker registration) {
    ActorRef<WorkerHost.Command> host = registration.replyTo();
    if (hosts.put(host, new ReportChildEnd(registration.worker(), registration.pid())) == null) {
      getContext().getLog().info("registered worker={}", registration.worker());
      getContext().watchWith(host, new WorkerHostTerminated(host));
    }
    host.tell(new WorkerHost.Registered(getContext().getSelf(), actors));
  }

  /**
   * Removes the member of an ended process at once. Silence only suggests that a process has ended,
   * but its node agent has seen it, and until the member is removed the cluster admits no new
   * member, not even its successor.
   */
  private void onReportChildEnd(ReportChildEnd ended) {
    List<Address> endedMembers =
        hosts.entrySet().stream()
            .filter(host -> host.getValue().equals(ended))
            .map(host -> host.getKey().path().address())
            .toList();
    for (Address address : endedMembers) {
      actors.coordinator().tell(new Coordinator.HostLost(address.toString()));
      Cluster.get(getContext().getSystem()).manager().tell(new Down(address));
    }
  }

  private void onNodeTerminated(String node, ActorRef<NodeAgent.Command> agent) {
    nodes.remove(agent);
    boolean lastAgent =
        !nodes.containsValue(node); // The next agent of the name may have joined first.
    if (lastAgent) {
      distribution.left(node);
    }
    notes.accept("node %s is gone".formatted(node));
    timers.startSingleTimer(new SettlingTimeElapsed(), SETTLING_TIME);
    offer(nodeTable.left(node, lastAgent));
  }

  private void offer(Map<String, NodeAssignment> assignments) {
    nodes.forEach(
        (agent, node) ->
            Optional.ofNullable(assignments.get(node))
                .ifPresent(
                    assignment -> {
                      notes.accept(
                          "node %s, which was spare, is now %s".formatted(node, assignment.text()));
                      agent.tell(
                          new NodeAgent.AssignmentOffered(
                              descriptor, assignment, getContext().getSelf()));
                    }));
  }

  private void onMemberUnreachable(Address address) {
    hosts.keySet().stream()
        .filter(host -> host.path().address().equals(address))
        .forEach(host -> host.tell(new WorkerHost.Evicted()));
    actors.coordinator().tell(new Coordinator.HostLost(address.toString()));
  }

  private Behavior<Command> onClose(boolean complete) {
    nodes.keySet().forEach(node -> node.tell(new NodeAgent.RunEnded(descriptor.run(), complete)));
    hosts.keySet().forEach(host -> host.tell(new WorkerHost.RunEnded()));
    return Behaviors.stopped();
  }
}
