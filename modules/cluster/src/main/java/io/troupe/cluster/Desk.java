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
import io.troupe.cluster.placement.Share;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.Coordinator;
import io.troupe.runtime.Portable;
import io.troupe.runtime.Run;
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
public final class Desk extends AbstractOnMessageBehavior<Desk.Command> {
  /** How workers find it. */
  public static final ServiceKey<Command> KEY = ServiceKey.create(Command.class, "desk");

  public sealed interface Command {}

  /**
   * A node asks what there is to do; a spare one asks again and again.
   *
   * @param run that it works for; empty if it works for none
   * @param seat {@link Share#seat} of what it does for that run; {@link Share#OWN}'s if it does
   *     nothing yet
   */
  public record AskTerms(String node, String run, int seat, ActorRef<NodeAgent.Command> replyTo)
      implements Command, Portable {}

  /** A node cannot take up the seat that it was given, as it has reported. */
  public record Unfit(String node, String run, int seat) implements Command, Portable {}

  /** A worker's JVM offers itself. */
  public record Enlist(String worker, long pid, ActorRef<WorkerHost.Command> replyTo)
      implements Command, Portable {}

  /** A node has seen one of its processes end. */
  public record ChildEnded(String child, long pid) implements Command, Portable {}

  /** A node's weight server is open; from now on it takes part in transfers. */
  public record Serves(String node, String server) implements Command, Portable {}

  /**
   * A transfer to a node has ended.
   *
   * @param digest of the weights' manifest, which the node has verified if they came
   * @param fetched bytes that came over the network
   * @param reused bytes taken from the version before
   * @param left sources it went away from
   * @param failure why the weights did not come; empty when they did
   */
  public record Brought(
      String node,
      long version,
      String digest,
      long fetched,
      long reused,
      long millis,
      List<Left> left,
      String failure)
      implements Command, Portable {
    /** A source that was left for another; {@code faulty} if it did not only lack the weights. */
    public record Left(String server, String reason, boolean faulty) {}

    public Brought {
      left = List.copyOf(left);
    }
  }

  /** Something an operator should know, in one sentence. */
  public record Report(String sentence) implements Command, Portable {}

  /** The run is over. */
  record Close() implements Command {}

  private record EndChild(String node, String child, long pid) implements Command {}

  private record Unreachable(Address address) implements Command {}

  private record NodeGone(String node, ActorRef<NodeAgent.Command> agent) implements Command {}

  private record Settled() implements Command {}

  private record HostGone(ActorRef<WorkerHost.Command> host) implements Command {}

  /**
   * In which nodes that were at work under a former head come to this one, and one on the head's
   * host that was started again comes back.
   */
  private static final Duration SETTLING = Duration.ofSeconds(20);

  private final TimerScheduler<Command> timers;
  private final Terms terms;
  private final Run.Posts posts;
  private final Deliveries deliveries;
  private final Roster roster;
  private final Consumer<String> notes;
  private final Map<ActorRef<NodeAgent.Command>, String> nodes = new HashMap<>();
  private final Map<ActorRef<WorkerHost.Command>, ChildEnded> hosts = new HashMap<>();

  /** A desk for a run. */
  static Behavior<Command> create(
      Terms terms, Run.Posts posts, Deliveries deliveries, Roster roster, Consumer<String> notes) {
    return Behaviors.withTimers(
        timers -> {
          timers.startSingleTimer(new Settled(), SETTLING);
          return Behaviors.setup(
              context -> new Desk(context, timers, terms, posts, deliveries, roster, notes));
        });
  }

  private Desk(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      Terms terms,
      Run.Posts posts,
      Deliveries deliveries,
      Roster roster,
      Consumer<String> notes) {
    super(context);
    this.timers = timers;
    this.deliveries = deliveries;
    this.roster = roster;
    this.terms = terms;
    this.posts = posts;
    this.notes = notes;
    ActorRef<ClusterEvent.UnreachableMember> unreachable =
        context.messageAdapter(
            ClusterEvent.UnreachableMember.class,
            event -> new Unreachable(event.member().address()));
    Cluster.get(context.getSystem())
        .subscriptions()
        .tell(Subscribe.create(unreachable, ClusterEvent.UnreachableMember.class));
    ActorRef<Command> self = context.getSelf();
    roster.stopProcessesWith((node, child, pid) -> self.tell(new EndChild(node, child, pid)));
    context.getSystem().receptionist().tell(Receptionist.register(KEY, self));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case AskTerms asked -> onAskTerms(asked);
      case Unfit(String node, String run, int seat) -> onUnfit(node, run, seat);
      case Enlist enlist -> onEnlist(enlist);
      case ChildEnded ended -> onChildEnded(ended);
      case Serves(String node, String server) -> deliveries.joined(node, server);
      case Brought report -> deliveries.told(report).forEach(this::onDelivery);
      case NodeGone(String node, ActorRef<NodeAgent.Command> agent) -> onNodeGone(node, agent);
      case Report(String sentence) -> notes.accept(sentence);
      case EndChild(String node, String child, long pid) ->
          nodes.keySet().forEach(one -> one.tell(new NodeAgent.EndChild(node, child, pid)));
      case Unreachable(Address address) -> onUnreachable(address);
      case Settled _ -> call(roster.settle());
      case HostGone(ActorRef<WorkerHost.Command> host) -> hosts.remove(host);
      case Close _ -> {
        return onClose();
      }
    }
    return this;
  }

  private void onDelivery(DeliveryBook.Change change) {
    notes.accept(change.text());
    WeightVersion version = new WeightVersion(change.version());
    posts
        .coordinator()
        .tell(
            switch (change) {
              case DeliveryBook.Missed(String node, long _, String reason) ->
                  new Coordinator.NodeSkipped(node, version, reason);
              case DeliveryBook.HeldUp(String node, long _, String reason) ->
                  new Coordinator.NodeSkipped(node, version, "it held others up: " + reason);
              case DeliveryBook.CaughtUp(String node, long _) ->
                  new Coordinator.NodeCaughtUp(node, version);
            });
  }

  private void onAskTerms(AskTerms asked) {
    String node = asked.node();
    ActorRef<NodeAgent.Command> replyTo = asked.replyTo();
    Address address = replyTo.path().address();
    int before = asked.run().equals(terms.run()) ? asked.seat() : Share.OWN.seat();
    Share share = roster.seat(node, address.getHost().orElse(""), before);
    if (nodes.put(replyTo, node) == null) {
      roster.joined(node);
      address
          .getHost()
          .ifPresent(host -> roster.met(node, new HostPort(host, address.getPort().orElse(0))));
      notes.accept("node %s is there%s".formatted(node, share.placed() ? ", " + share.text() : ""));
      getContext().watchWith(replyTo, new NodeGone(node, replyTo));
    }
    replyTo.tell(new NodeAgent.Offered(terms, share, getContext().getSelf()));
    if (allHaveCome()) {
      call(roster.attended());
    }
  }

  /** Whether no node is in the cluster that has not asked. */
  private boolean allHaveCome() {
    Set<Address> asked =
        nodes.keySet().stream().map(agent -> agent.path().address()).collect(Collectors.toSet());
    Iterable<Member> members = Cluster.get(getContext().getSystem()).state().getMembers();
    return StreamSupport.stream(members.spliterator(), false)
        .filter(member -> member.hasRole(ClusterSettings.Role.NODE.akkaName()))
        .allMatch(member -> asked.contains(member.address()));
  }

  private void onUnfit(String node, String run, int seat) {
    if (run.equals(terms.run())) {
      notes.accept(
          "node %s cannot be node %d of the placement; another one may".formatted(node, seat));
      call(roster.unfit(node, seat));
    }
  }

  private void onEnlist(Enlist enlist) {
    ActorRef<WorkerHost.Command> host = enlist.replyTo();
    if (hosts.put(host, new ChildEnded(enlist.worker(), enlist.pid())) == null) {
      getContext().getLog().info("enlisted worker={}", enlist.worker());
      getContext().watchWith(host, new HostGone(host));
    }
    host.tell(new WorkerHost.Hired(getContext().getSelf(), posts));
  }

  /**
   * Who has seen a process end knows what silence only suggests, so its member is removed at once:
   * until then, the cluster lets nobody in, its successor neither.
   */
  private void onChildEnded(ChildEnded ended) {
    List<Address> gone =
        hosts.entrySet().stream()
            .filter(host -> host.getValue().equals(ended))
            .map(host -> host.getKey().path().address())
            .toList();
    for (Address address : gone) {
      posts.coordinator().tell(new Coordinator.HostLost(address.toString()));
      Cluster.get(getContext().getSystem()).manager().tell(new Down(address));
    }
  }

  private void onNodeGone(String node, ActorRef<NodeAgent.Command> agent) {
    nodes.remove(agent);
    boolean last = !nodes.containsValue(node); // Its next agent may have come before it was missed.
    if (last) {
      deliveries.left(node);
    }
    notes.accept("node %s is gone".formatted(node));
    timers.startSingleTimer(new Settled(), SETTLING);
    call(roster.left(node, last));
  }

  private void call(Map<String, Share> shares) {
    nodes.forEach(
        (agent, node) ->
            Optional.ofNullable(shares.get(node))
                .ifPresent(
                    share -> {
                      notes.accept(
                          "node %s, which was spare, is now %s".formatted(node, share.text()));
                      agent.tell(new NodeAgent.Offered(terms, share, getContext().getSelf()));
                    }));
  }

  private void onUnreachable(Address address) {
    hosts.keySet().stream()
        .filter(host -> host.path().address().equals(address))
        .forEach(host -> host.tell(new WorkerHost.Dismissed()));
    posts.coordinator().tell(new Coordinator.HostLost(address.toString()));
  }

  private Behavior<Command> onClose() {
    nodes.keySet().forEach(node -> node.tell(new NodeAgent.RunOver(terms.run())));
    hosts.keySet().forEach(host -> host.tell(new WorkerHost.RunOver()));
    return Behaviors.stopped();
  }
}
