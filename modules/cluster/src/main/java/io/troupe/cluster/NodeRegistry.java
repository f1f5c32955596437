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
 * Where nodes and workers of other JVMs come to work for a run; it stands beside the coordinator,
 * and workers find it through the receptionist.
 *
 * <p>It tells the coordinator of lost workers as soon as their JVM is unreachable, which is seconds
 * before the cluster gives it up: their leases need not wait. Should such a worker come back, it is
 * dismissed, and enlists again under another name.
 */
public final class NodeRegistry extends AbstractOnMessageBehavior<NodeRegistry.Command> {
  /** How workers find it. */
  public static final ServiceKey<Command> SERVICE_KEY = ServiceKey.create(Command.class, "desk");

  public sealed interface Command {}

  /**
   * A node asks what there is to do; a spare one asks again and again.
   *
   * @param run that it works for; empty if it works for none
   * @param slot {@link NodeAssignment#slot} of what it does for that run; {@link
   *     NodeAssignment#UNMANAGED}'s if it does nothing yet
   */
  public record RegisterNode(String node, String run, int slot, ActorRef<NodeAgent.Command> replyTo)
      implements Command, WireMessage {}

  /** A node cannot take up the seat that it was given, as it has reported. */
  public record RejectAssignment(String node, String run, int slot)
      implements Command, WireMessage {}

  /** A worker's JVM offers itself. */
  public record RegisterWorker(String worker, long pid, ActorRef<WorkerHost.Command> replyTo)
      implements Command, WireMessage {}

  /** A node has seen one of its processes end. */
  public record ReportChildEnd(String child, long pid) implements Command, WireMessage {}

  /** A node's weight server is open; from now on it takes part in transfers. */
  public record AnnounceWeightServer(String node, String server) implements Command, WireMessage {}

  /**
   * A transfer to a node has ended.
   *
   * @param digest of the weights' manifest, which the node has verified if they came
   * @param fetched bytes that came over the network
   * @param reused bytes taken from the version before
   * @param abandoned sources it went away from
   * @param failure why the weights did not come; empty when they did
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
    /** A source that was left for another; {@code faulty} if it did not only lack the weights. */
    public record AbandonedSource(String server, String reason, boolean faulty) {}

    public ReportTransfer {
      abandoned = List.copyOf(abandoned);
    }
  }

  /** Something an operator should know, in one sentence. */
  public record NotifyOperator(String sentence) implements Command, WireMessage {}

  /** The run is over. */
  record Close() implements Command {}

  private record StopChild(String node, String child, long pid) implements Command {}

  private record MemberUnreachable(Address address) implements Command {}

  private record NodeTerminated(String node, ActorRef<NodeAgent.Command> agent)
      implements Command {}

  private record SettlingTimeElapsed() implements Command {}

  private record WorkerHostTerminated(ActorRef<WorkerHost.Command> host) implements Command {}

  /**
   * In which nodes that were at work under a former head come to this one, and one on the head's
   * host that was started again comes back.
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

  /** A desk for a run. */
  static Behavior<Command> create(
      RunDescriptor terms,
      Run.RunActors posts,
      WeightDistribution deliveries,
      NodeTable roster,
      Consumer<String> notes) {
    return Behaviors.withTimers(
        timers -> {
          timers.startSingleTimer(new SettlingTimeElapsed(), SETTLING_TIME);
          return Behaviors.setup(
              context ->
                  new NodeRegistry(context, timers, terms, posts, deliveries, roster, notes));
        });
  }

  private NodeRegistry(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      RunDescriptor terms,
      Run.RunActors posts,
      WeightDistribution deliveries,
      NodeTable roster,
      Consumer<String> notes) {
    super(context);
    this.timers = timers;
    this.distribution = deliveries;
    this.nodeTable = roster;
    this.descriptor = terms;
    this.actors = posts;
    this.notes = notes;
    ActorRef<ClusterEvent.UnreachableMember> unreachable =
        context.messageAdapter(
            ClusterEvent.UnreachableMember.class,
            event -> new MemberUnreachable(event.member().address()));
    Cluster.get(context.getSystem())
        .subscriptions()
        .tell(Subscribe.create(unreachable, ClusterEvent.UnreachableMember.class));
    ActorRef<Command> self = context.getSelf();
    roster.stopProcessesWith((node, child, pid) -> self.tell(new StopChild(node, child, pid)));
    context.getSystem().receptionist().tell(Receptionist.register(SERVICE_KEY, self));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case RegisterNode asked -> onRegisterNode(asked);
      case RejectAssignment(String node, String run, int seat) ->
          onRejectAssignment(node, run, seat);
      case RegisterWorker enlist -> onRegisterWorker(enlist);
      case ReportChildEnd ended -> onReportChildEnd(ended);
      case AnnounceWeightServer(String node, String server) -> distribution.joined(node, server);
      case ReportTransfer report -> distribution.apply(report).forEach(this::onDistributionChange);
      case NodeTerminated(String node, ActorRef<NodeAgent.Command> agent) ->
          onNodeTerminated(node, agent);
      case NotifyOperator(String sentence) -> notes.accept(sentence);
      case StopChild(String node, String child, long pid) ->
          nodes.keySet().forEach(one -> one.tell(new NodeAgent.StopChild(node, child, pid)));
      case MemberUnreachable(Address address) -> onMemberUnreachable(address);
      case SettlingTimeElapsed _ -> offer(nodeTable.settle());
      case WorkerHostTerminated(ActorRef<WorkerHost.Command> host) -> hosts.remove(host);
      case Close _ -> {
        return onClose();
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
                      new Input.NodeSkipped(node, version, "it held others up: " + reason);
                  case WeightDistributionState.CaughtUp(String node, long _) ->
                      new Input.NodeCaughtUp(node, version);
                }));
  }

  private void onRegisterNode(RegisterNode asked) {
    String node = asked.node();
    ActorRef<NodeAgent.Command> replyTo = asked.replyTo();
    Address address = replyTo.path().address();
    int before =
        asked.run().equals(descriptor.run()) ? asked.slot() : NodeAssignment.UNMANAGED.slot();
    NodeAssignment share = nodeTable.allocate(node, address.getHost().orElse(""), before);
    if (nodes.put(replyTo, node) == null) {
      nodeTable.joined(node);
      address
          .getHost()
          .ifPresent(
              host ->
                  nodeTable.recordAddress(node, new HostPort(host, address.getPort().orElse(0))));
      notes.accept("node %s is there%s".formatted(node, share.placed() ? ", " + share.text() : ""));
      getContext().watchWith(replyTo, new NodeTerminated(node, replyTo));
    }
    replyTo.tell(new NodeAgent.AssignmentOffered(descriptor, share, getContext().getSelf()));
    if (allNodesRegistered()) {
      offer(nodeTable.allRegistered());
    }
  }

  /** Whether no node is in the cluster that has not asked. */
  private boolean allNodesRegistered() {
    Set<Address> asked =
        nodes.keySet().stream().map(agent -> agent.path().address()).collect(Collectors.toSet());
    Iterable<Member> members = Cluster.get(getContext().getSystem()).state().getMembers();
    return StreamSupport.stream(members.spliterator(), false)
        .filter(member -> member.hasRole(ClusterSettings.ClusterRole.NODE.akkaName()))
        .allMatch(member -> asked.contains(member.address()));
  }

  private void onRejectAssignment(String node, String run, int seat) {
    if (run.equals(descriptor.run())) {
      notes.accept(
          "node %s cannot be node %d of the placement; another one may".formatted(node, seat));
      offer(nodeTable.reject(node, seat));
    }
  }

  private void onRegisterWorker(RegisterWorker enlist) {
    ActorRef<WorkerHost.Command> host = enlist.replyTo();
    if (hosts.put(host, new ReportChildEnd(enlist.worker(), enlist.pid())) == null) {
      getContext().getLog().info("enlisted worker={}", enlist.worker());
      getContext().watchWith(host, new WorkerHostTerminated(host));
    }
    host.tell(new WorkerHost.Registered(getContext().getSelf(), actors));
  }

  /**
   * Who has seen a process end knows what silence only suggests, so its member is removed at once:
   * until then, the cluster lets nobody in, its successor neither.
   */
  private void onReportChildEnd(ReportChildEnd ended) {
    List<Address> gone =
        hosts.entrySet().stream()
            .filter(host -> host.getValue().equals(ended))
            .map(host -> host.getKey().path().address())
            .toList();
    for (Address address : gone) {
      actors.coordinator().tell(new Coordinator.HostLost(address.toString()));
      Cluster.get(getContext().getSystem()).manager().tell(new Down(address));
    }
  }

  private void onNodeTerminated(String node, ActorRef<NodeAgent.Command> agent) {
    nodes.remove(agent);
    boolean last = !nodes.containsValue(node); // Its next agent may have come before it was missed.
    if (last) {
      distribution.left(node);
    }
    notes.accept("node %s is gone".formatted(node));
    timers.startSingleTimer(new SettlingTimeElapsed(), SETTLING_TIME);
    offer(nodeTable.left(node, last));
  }

  private void offer(Map<String, NodeAssignment> shares) {
    nodes.forEach(
        (agent, node) ->
            Optional.ofNullable(shares.get(node))
                .ifPresent(
                    share -> {
                      notes.accept(
                          "node %s, which was spare, is now %s".formatted(node, share.text()));
                      agent.tell(
                          new NodeAgent.AssignmentOffered(
                              descriptor, share, getContext().getSelf()));
                    }));
  }

  private void onMemberUnreachable(Address address) {
    hosts.keySet().stream()
        .filter(host -> host.path().address().equals(address))
        .forEach(host -> host.tell(new WorkerHost.Evicted()));
    actors.coordinator().tell(new Coordinator.HostLost(address.toString()));
  }

  private Behavior<Command> onClose() {
    nodes.keySet().forEach(node -> node.tell(new NodeAgent.RunEnded(descriptor.run())));
    hosts.keySet().forEach(host -> host.tell(new WorkerHost.RunEnded()));
    return Behaviors.stopped();
  }
}
