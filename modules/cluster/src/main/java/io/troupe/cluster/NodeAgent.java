package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import akka.actor.typed.receptionist.Receptionist;
import io.troupe.base.failure.Causes;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.cluster.diagnostics.Diagnostics;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.KnownMembers;
import io.troupe.cluster.membership.MemberTracker;
import io.troupe.cluster.membership.ServiceSubscription;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.runtime.WireMessage;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FetchOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The guardian of a node. It registers with the node registry of a run, starts the processes of its
 * assignment, restarts those that end early, and reports every failure.
 *
 * <p>It works for one run at a time and waits for the next run when that one is over.
 */
public final class NodeAgent extends AbstractOnMessageBehavior<NodeAgent.Command> {
  public sealed interface Command {}

  /** The registry of a run assigns this node a slot, or none yet. */
  public record AssignmentOffered(
      RunDescriptor descriptor, NodeAssignment assignment, ActorRef<NodeRegistry.Command> registry)
      implements Command, WireMessage {}

  /** The run is over; complete, or to be resumed. */
  public record RunEnded(String run, boolean complete) implements Command, WireMessage {}

  /** Stop a process that does not answer, if the node has this name and the process this pid. */
  public record StopChild(String node, String child, long pid) implements Command, WireMessage {}

  /** Drain this node, if it has this name. */
  public record Drain(String node, ActorRef<JoinGate.Reply> replyTo)
      implements Command, WireMessage {}

  /** Drain this node. */
  public record Leave() implements Command {}

  /**
   * Drain this node before its host ends.
   *
   * @param reason as a sentence
   * @param left time until then
   */
  public record LeaveWithin(String reason, Duration left) implements Command {}

  private record RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) implements Command {}

  private record RegistryTerminated(ActorRef<NodeRegistry.Command> gone) implements Command {}

  private record PlanReady(String run, int slot, ProcessPlan plan) implements Command {}

  private record WeightsFetched(WeightRef weights, FetchOutcome outcome) implements Command {}

  private record PlanFailed(String run, int slot, String reason) implements Command {}

  private record ChildEnded(ChildSpec child, ChildProcesses.Exit exit) implements Command {}

  private record ChildNotStarted(ChildSpec child, String reason) implements Command {}

  private record RestartDue(ChildSpec child) implements Command {}

  private record Due(NodeAction.Timer timer) implements Command {}

  /** Plans the processes that a run needs on this node. */
  public interface ProcessPlanner {
    /**
     * Prepares everything that the processes need. May block.
     *
     * @param assignment of this node in the run's placement
     * @param onTransfer called with the outcome of every transfer of weights to this node
     * @throws IOException if this node cannot work for the run; the message says why and what to do
     */
    ProcessPlan plan(
        RunDescriptor descriptor,
        NodeAssignment assignment,
        BiConsumer<WeightRef, FetchOutcome> onTransfer)
        throws IOException;

    /** Releases what the run held on this node beside its processes. May block. */
    void runEnded();
  }

  /**
   * The processes of a run on a node.
   *
   * @param children processes to start
   * @param weights address of the node's weight server, if it has one
   * @param ranks names of the children that are trainer ranks and follow the coordinator's address
   * @param standbys names of the children that coordinate or stand by, which run in every slot
   */
  public record ProcessPlan(
      List<ChildSpec> children,
      Optional<HostPort> weights,
      Set<String> ranks,
      Set<String> standbys) {
    public ProcessPlan {
      children = List.copyOf(children);
      ranks = Set.copyOf(ranks);
      standbys = Set.copyOf(standbys);
    }
  }

  /** The condition under which a node leaves by itself. */
  public enum Until {
    /** Never: it waits for the next run. */
    DRAINED,
    /** The node leaves when its run is complete. */
    RUN_COMPLETE
  }

  /**
   * The collaborators of a node agent.
   *
   * @param name name of the node, unique in the cluster
   * @param until condition under which the node leaves by itself
   * @param known remembers the members of the cluster
   * @param probe answers questions about this process and its host
   * @param say receives sentences for the node's operator
   * @param onLeft called when the node has drained and leaves the cluster
   */
  public record Wiring(
      String name,
      ClusterIdentity identity,
      Until until,
      KnownMembers known,
      ProcessPlanner planner,
      ChildProcesses children,
      LongSupplier millis,
      Duration drainTimeout,
      Diagnostics.Probe probe,
      Consumer<String> say,
      Runnable onLeft) {}

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private NodeState state;

  /** An agent that works for runs until it is drained. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new NodeAgent(context, timers, wiring)));
  }

  private NodeAgent(ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.wiring = wiring;
    this.timers = timers;
    this.state = NodeState.starting(wiring.name(), wiring.until(), wiring.drainTimeout());
    context.spawn(JoinGate.create(wiring.identity()), JoinGate.NAME);
    context.spawn(MemberTracker.create(wiring.known()), MemberTracker.NAME);
    context.spawn(Diagnostics.create(wiring.name(), wiring.probe()), Diagnostics.NAME);
    ServiceSubscription.start(context, NodeRegistry.SERVICE_KEY, RegistriesFound::new);
    context
        .getSystem()
        .receptionist()
        .tell(Receptionist.register(JoinGate.AGENT_KEY, context.getSelf()));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    NodeState.Next next =
        switch (command) {
          case RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) ->
              state.registriesFound(found);
          case RegistryTerminated(ActorRef<NodeRegistry.Command> ended) ->
              state.registryTerminated(ended);
          case AssignmentOffered(
                  RunDescriptor descriptor,
                  NodeAssignment assignment,
                  ActorRef<NodeRegistry.Command> sender) ->
              state.assignmentOffered(descriptor, assignment, sender);
          case PlanReady(String run, int slot, ProcessPlan plan) ->
              state.planReady(run, slot, plan);
          case PlanFailed(String run, int slot, String reason) ->
              state.planFailed(run, slot, reason);
          case WeightsFetched(WeightRef weights, FetchOutcome outcome) ->
              state.transferEnded(weights, outcome);
          case ChildEnded(ChildSpec child, ChildProcesses.Exit exit) ->
              state.childEnded(child, exit, wiring.millis().getAsLong());
          case ChildNotStarted(ChildSpec child, String reason) ->
              state.childNotStarted(child, reason, wiring.millis().getAsLong());
          case RestartDue(ChildSpec child) -> state.restartDue(child);
          case RunEnded(String run, boolean complete) -> state.runEnded(run, complete);
          case StopChild(String node, String child, long pid) -> state.stopChild(node, child, pid);
          case Drain(String node, ActorRef<JoinGate.Reply> replyTo) -> state.drain(node, replyTo);
          case Leave _ -> state.leave();
          case LeaveWithin(String reason, Duration left) -> state.leaveWithin(reason, left);
          case Due(NodeAction.Timer timer) -> state.due(timer);
        };
    state = next.state();
    next.actions().forEach(this::act);
    if (state.ended()) {
      wiring.onLeft().run();
      return Behaviors.stopped();
    }
    return this;
  }

  private void act(NodeAction action) {
    switch (action) {
      case NodeAction.Tell(ActorRef<NodeRegistry.Command> registry, NodeRegistry.Command message) ->
          registry.tell(message);
      case NodeAction.Register(ActorRef<NodeRegistry.Command> registry, String run, int slot) ->
          registry.tell(
              new NodeRegistry.RegisterNode(wiring.name(), run, slot, getContext().getSelf()));
      case NodeAction.Watch(ActorRef<NodeRegistry.Command> registry) ->
          getContext().watchWith(registry, new RegistryTerminated(registry));
      case NodeAction.Unwatch(ActorRef<NodeRegistry.Command> registry) ->
          getContext().unwatch(registry);
      case NodeAction.Reply(ActorRef<JoinGate.Reply> replyTo, JoinGate.Reply reply) ->
          replyTo.tell(reply);
      case NodeAction.Plan(RunDescriptor descriptor, NodeAssignment assignment) ->
          plan(descriptor, assignment);
      case NodeAction.EndRun _ -> {
        var _ = wiring.children().onStarterThread(this::endRun);
      }
      case NodeAction.Start(ChildSpec child) -> start(child);
      case NodeAction.Drain(String child) -> wiring.children().drain(child);
      case NodeAction.Kill(String child) -> wiring.children().kill(child);
      case NodeAction.KillProcess(String child, long pid) -> wiring.children().kill(child, pid);
      case NodeAction.KillAll _ -> wiring.children().killAll();
      case NodeAction.SendCoordinator(String rank, String address) ->
          wiring.children().writeLine(rank, ChildProcesses.COORDINATOR + address);
      case NodeAction.Schedule(NodeAction.Timer timer, Duration pause) ->
          timers.startSingleTimer(timer, new Due(timer), pause);
      case NodeAction.CancelTimer(NodeAction.Timer timer) -> timers.cancel(timer);
      case NodeAction.ScheduleRestart(ChildSpec child, Duration pause) ->
          timers.startSingleTimer(child.name(), new RestartDue(child), pause);
      case NodeAction.CancelRestart(String child) -> timers.cancel(child);
      case NodeAction.Say(String sentence) -> wiring.say().accept(sentence);
    }
  }

  private void plan(RunDescriptor descriptor, NodeAssignment assignment) {
    ActorRef<Command> self = getContext().getSelf();
    getContext()
        .pipeToSelf(
            wiring.children().onStarterThread(() -> planProcesses(descriptor, assignment, self)),
            (plan, failure) ->
                failure == null
                    ? new PlanReady(descriptor.run(), assignment.slot(), plan)
                    : new PlanFailed(descriptor.run(), assignment.slot(), message(failure)));
  }

  private ProcessPlan planProcesses(
      RunDescriptor descriptor, NodeAssignment assignment, ActorRef<Command> self) {
    try {
      return wiring
          .planner()
          .plan(
              descriptor,
              assignment,
              (weights, outcome) -> self.tell(new WeightsFetched(weights, outcome)));
    } catch (IOException unusable) {
      throw new UncheckedIOException(unusable);
    }
  }

  private void start(ChildSpec child) {
    getContext()
        .pipeToSelf(
            wiring.children().start(child),
            (exit, failure) ->
                failure == null
                    ? new ChildEnded(child, exit)
                    : new ChildNotStarted(child, message(failure)));
  }

  private boolean endRun() {
    wiring.planner().runEnded();
    return true;
  }

  private static String message(Throwable failure) {
    return String.valueOf(Causes.inside(failure, List.of(UncheckedIOException.class)).getMessage());
  }
}
