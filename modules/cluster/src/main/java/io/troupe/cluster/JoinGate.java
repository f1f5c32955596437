package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.receptionist.Receptionist;
import akka.actor.typed.receptionist.ServiceKey;
import akka.cluster.MemberStatus;
import akka.cluster.typed.Cluster;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.runtime.WireMessage;
import java.util.Optional;
import java.util.Set;

/**
 * Answers processes that are not members of the cluster: whether they may join, and whether a node
 * drains. It has the same path in every JVM that can be a seed.
 */
public final class JoinGate extends AbstractOnMessageBehavior<JoinGate.Command> {
  /** The name that the guardian must spawn it under. */
  public static final String NAME = "join-gate";

  public sealed interface Command {}

  /** A process asks whether it may join. */
  public record RequestJoin(ClusterIdentity identity, String who, ActorRef<Reply> replyTo)
      implements Command, WireMessage {}

  /** Drain a node: no new leases, groups in flight finish, then it leaves. */
  public record DrainNode(ClusterIdentity identity, String node, ActorRef<Reply> replyTo)
      implements Command, WireMessage {}

  private record AgentsFound(Optional<DrainNode> waiting, Set<ActorRef<NodeAgent.Command>> agents)
      implements Command {}

  /** The answer to a request. */
  public sealed interface Reply extends WireMessage {}

  /** The request is granted. */
  public record Accepted(String text) implements Reply {}

  /** The request is refused; the reason says why and what to do. */
  public record Rejected(String reason) implements Reply {}

  /** The answering process is looking for the cluster itself. */
  public record NotAMember() implements Reply {}

  static final ServiceKey<NodeAgent.Command> AGENT_KEY =
      ServiceKey.create(NodeAgent.Command.class, "node-agents");

  private final ClusterIdentity identity;

  /** A gate of the cluster with this identity. */
  public static Behavior<Command> create(ClusterIdentity identity) {
    return Behaviors.setup(context -> new JoinGate(context, identity));
  }

  private JoinGate(ActorContext<Command> context, ClusterIdentity identity) {
    super(context);
    this.identity = identity;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case RequestJoin request -> onRequestJoin(request);
      case DrainNode drain -> onDrainNode(drain);
      case AgentsFound(Optional<DrainNode> waiting, Set<ActorRef<NodeAgent.Command>> agents) ->
          waiting.ifPresent(drain -> forward(drain, agents));
    }
    return this;
  }

  private void onRequestJoin(RequestJoin request) {
    request
        .replyTo()
        .tell(
            objection(request.identity(), request.who())
                .<Reply>map(Rejected::new)
                .orElseGet(() -> isMember() ? new Accepted(identity.cluster()) : new NotAMember()));
  }

  private Optional<String> objection(ClusterIdentity presented, String who) {
    Optional<String> objection = identity.incompatibilityWith(presented);
    objection.ifPresent(
        reason -> getContext().getLog().warn("refused who=\"{}\" reason=\"{}\"", who, reason));
    return objection;
  }

  /** Only a member of the cluster can admit another process. */
  private boolean isMember() {
    MemberStatus status = Cluster.get(getContext().getSystem()).selfMember().status();
    return status.equals(MemberStatus.up()) || status.equals(MemberStatus.weaklyUp());
  }

  private void onDrainNode(DrainNode drain) {
    Optional<String> objection = objection(drain.identity(), "who drains node " + drain.node());
    if (objection.isPresent()) {
      drain.replyTo().tell(new Rejected(objection.get()));
      return;
    }
    ActorRef<Receptionist.Listing> listings =
        getContext()
            .messageAdapter(
                Receptionist.Listing.class,
                listing ->
                    new AgentsFound(Optional.of(drain), listing.getServiceInstances(AGENT_KEY)));
    getContext().getSystem().receptionist().tell(Receptionist.find(AGENT_KEY, listings));
  }

  private static void forward(DrainNode drain, Set<ActorRef<NodeAgent.Command>> agents) {
    if (agents.isEmpty()) {
      drain.replyTo().tell(new Rejected("no node agent is in this cluster"));
    }
    agents.forEach(agent -> agent.tell(new NodeAgent.Drain(drain.node(), drain.replyTo())));
  }
}
