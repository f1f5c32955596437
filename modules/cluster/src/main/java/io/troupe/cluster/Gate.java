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
import io.troupe.runtime.Portable;
import java.util.Optional;
import java.util.Set;

/**
 * Answers those who are not members of the cluster: whether they may join, and what they ask of a
 * node. It stands at a fixed place in every JVM that can be a seed.
 */
public final class Gate extends AbstractOnMessageBehavior<Gate.Command> {
  /** The name it must be spawned under, as a child of the guardian. */
  public static final String NAME = "gate";

  public sealed interface Command {}

  /** May I join? */
  public record Knock(Pass pass, String who, ActorRef<Answer> replyTo)
      implements Command, Portable {}

  /** Drain a node: no new leases, groups in flight finish, then it leaves. */
  public record DrainNode(Pass pass, String node, ActorRef<Answer> replyTo)
      implements Command, Portable {}

  private record Nodes(Optional<DrainNode> waiting, Set<ActorRef<NodeAgent.Command>> agents)
      implements Command {}

  /** What comes back. */
  public sealed interface Answer extends Portable {}

  /** Yes. */
  public record Welcome(String text) implements Answer {}

  /** No, in a sentence that says why and what to do. */
  public record Refused(String reason) implements Answer {}

  /** I am looking for the cluster myself. */
  public record Outside() implements Answer {}

  static final ServiceKey<NodeAgent.Command> AGENTS =
      ServiceKey.create(NodeAgent.Command.class, "agents");

  private final Pass pass;

  /** A gate of the cluster that {@code pass} belongs to. */
  public static Behavior<Command> create(Pass pass) {
    return Behaviors.setup(context -> new Gate(context, pass));
  }

  private Gate(ActorContext<Command> context, Pass pass) {
    super(context);
    this.pass = pass;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Knock knock -> onKnock(knock);
      case DrainNode drain -> onDrainNode(drain);
      case Nodes(Optional<DrainNode> waiting, Set<ActorRef<NodeAgent.Command>> agents) ->
          waiting.ifPresent(drain -> forward(drain, agents));
    }
    return this;
  }

  private void onKnock(Knock knock) {
    knock
        .replyTo()
        .tell(
            objection(knock.pass(), knock.who())
                .<Answer>map(Refused::new)
                .orElseGet(() -> inside() ? new Welcome(pass.cluster()) : new Outside()));
  }

  private Optional<String> objection(Pass shown, String who) {
    Optional<String> objection = pass.objectionTo(shown);
    objection.ifPresent(
        reason -> getContext().getLog().warn("refused who=\"{}\" reason=\"{}\"", who, reason));
    return objection;
  }

  /** Who is not in the cluster can let nobody in. */
  private boolean inside() {
    MemberStatus status = Cluster.get(getContext().getSystem()).selfMember().status();
    return status.equals(MemberStatus.up()) || status.equals(MemberStatus.weaklyUp());
  }

  private void onDrainNode(DrainNode drain) {
    Optional<String> objection = objection(drain.pass(), "who drains node " + drain.node());
    if (objection.isPresent()) {
      drain.replyTo().tell(new Refused(objection.get()));
      return;
    }
    ActorRef<Receptionist.Listing> listings =
        getContext()
            .messageAdapter(
                Receptionist.Listing.class,
                listing -> new Nodes(Optional.of(drain), listing.getServiceInstances(AGENTS)));
    getContext().getSystem().receptionist().tell(Receptionist.find(AGENTS, listings));
  }

  private static void forward(DrainNode drain, Set<ActorRef<NodeAgent.Command>> agents) {
    if (agents.isEmpty()) {
      drain.replyTo().tell(new Refused("no node agent is in this cluster"));
    }
    agents.forEach(agent -> agent.tell(new NodeAgent.Drain(drain.node(), drain.replyTo())));
  }
}
