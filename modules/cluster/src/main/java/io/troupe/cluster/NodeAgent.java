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

  /** The run is over. */
  public record RunEnded(String run) implements Command, WireMessage {}

  /** Stop a process that does not answer, if the node has this name and the process this pid. */
  public record StopChild(String node, String child, long pid) implements Command, WireMessage {}

  /** Drain this node, if it has this name. */
  public record Drain(String node, ActorRef<JoinGate.Reply> replyTo)
      implements Command, WireMessage {}

  /** Drain this node. */
  public record Leave() implements Command {}

  private record RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) implements Command {}

  private record RegistryTerminated(ActorRef<NodeRegistry.Command> gone) implements Command {}

  private record RegistrationDue() implements Command {}

  private record PlanReady(int slot, ProcessPlan plan) implements Command {}

  private record WeightsFetched(WeightRef weights, FetchOutcome outcome) implements Command {}

  private record PlanFailed(int slot, String reason) implements Command {}

  private record ChildEnded(ChildSpec child, ChildProcesses.Exit exit) implements Command {}

  private record ChildNotStarted(ChildSpec child, String reason) implements Command {}

  private record RestartDue(ChildSpec child) implements Command {}

  private record DrainTimedOut() implements Command {}

  private record ReleaseTimedOut() implements Command {}

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

  /**
   * The collaborators of a node agent.
   *
   * @param name name of the node, unique in the cluster
   * @param known remembers the members of the cluster
   * @param probe answers questions about this process and its host
   * @param say receives sentences for the node's operator
   * @param onLeft called when the node has drained and leaves the cluster
   */
  public record Wiring(
      String name,
      ClusterIdentity identity,
      KnownMembers known,
      ProcessPlanner planner,
      ChildProcesses children,
      LongSupplier millis,
      Duration drainTimeout,
      Diagnostics.Probe probe,
      Consumer<String> say,
      Runnable onLeft) {}

  private static final Duration REGISTRATION_INTERVAL = Duration.ofSeconds(2);

  /**
   * The interval of a spare node, so that an assignment that was lost on the way is offered again.
   */
  private static final Duration SPARE_REGISTRATION_INTERVAL = Duration.ofSeconds(10);

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private ChildTable childTable = ChildTable.EMPTY;
  private Optional<ActorRef<NodeRegistry.Command>> registry = Optional.empty();
  private Optional<String> run = Optional.empty();
  private Optional<HostPort> weights = Optional.empty();
  private Set<String> ranks = Set.of();
  private Set<String> standbys = Set.of();
  private Optional<RunDescriptor> releasedRun = Optional.empty();
  private String rankRegistryAddress = "";
  private int slot = NodeAssignment.UNMANAGED.slot();
  private boolean leaving;

  /** An agent that works for runs until it is drained. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new NodeAgent(context, timers, wiring)));
  }

  private NodeAgent(ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.wiring = wiring;
    this.timers = timers;
    context.spawn(JoinGate.create(wiring.identity()), JoinGate.NAME);
    context.spawn(MemberTracker.create(wiring.known()), MemberTracker.NAME);
    context.spawn(Diagnostics.create(wiring.name(), wiring.probe()), Diagnostics.NAME);
    ActorRef<Receptionist.Listing> listings =
        context.messageAdapter(
            Receptionist.Listing.class,
            listing -> new RegistriesFound(listing.getServiceInstances(NodeRegistry.SERVICE_KEY)));
    context
        .getSystem()
        .receptionist()
        .tell(Receptionist.subscribe(NodeRegistry.SERVICE_KEY, listings));
    context
        .getSystem()
        .receptionist()
        .tell(Receptionist.register(JoinGate.AGENT_KEY, context.getSelf()));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) -> onRegistriesFound(found);
      case RegistryTerminated(ActorRef<NodeRegistry.Command> ended) -> onRegistryTerminated(ended);
      case RegistrationDue _ -> register();
      case AssignmentOffered(
              RunDescriptor descriptor,
              NodeAssignment assignment,
              ActorRef<NodeRegistry.Command> sender) ->
          onAssignmentOffered(descriptor, assignment, sender);
      case PlanReady(int plannedSlot, ProcessPlan plan) -> onPlanReady(plannedSlot, plan);
      case WeightsFetched(WeightRef weightRef, FetchOutcome outcome) ->
          onWeightsFetched(weightRef, outcome);
      case PlanFailed(int plannedSlot, String reason) -> onPlanFailed(plannedSlot, reason);
      case ChildEnded(ChildSpec child, ChildProcesses.Exit exit) -> {
        registry.ifPresent(
            one -> one.tell(new NodeRegistry.ReportChildEnd(child.name(), exit.pid())));
        onChildEnded(child, exit.code());
      }
      case ChildNotStarted(ChildSpec child, String reason) -> {
        report(reason);
        onChildEnded(child, -1);
      }
      case RestartDue(ChildSpec child) -> onRestartDue(child);
      case RunEnded(String ended) -> onRunEnded(ended);
      case StopChild(String node, String child, long pid) -> onStopChild(node, child, pid);
      case Drain(String node, ActorRef<JoinGate.Reply> replyTo) -> onDrain(node, replyTo);
      case Leave _ -> onLeave();
      case DrainTimedOut _ -> wiring.children().killAll();
      case ReleaseTimedOut _ -> childTable.released().forEach(wiring.children()::kill);
    }
    if (leaving && childTable.alive().isEmpty()) {
      wiring.onLeft().run();
      return Behaviors.stopped();
    }
    return this;
  }

  private void onRegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) {
    Optional<ActorRef<NodeRegistry.Command>> other =
        found.stream().filter(one -> !registry.equals(Optional.of(one))).findFirst();
    if (other.isPresent() && !leaving) {
      registry.ifPresent(getContext()::unwatch);
      registry = other;
      getContext().watchWith(other.get(), new RegistryTerminated(other.get()));
      register();
    }
  }

  /**
   * The run is over or the registry's host is gone. The agent registers again once it finds another
   * registry.
   */
  private void onRegistryTerminated(ActorRef<NodeRegistry.Command> ended) {
    if (registry.equals(Optional.of(ended))) {
      registry = Optional.empty();
      timers.cancel(new RegistrationDue());
    }
  }

  private void register() {
    registry.ifPresent(
        one -> {
          one.tell(
              new NodeRegistry.RegisterNode(
                  wiring.name(), run.orElse(""), slot, getContext().getSelf()));
          timers.startSingleTimer(new RegistrationDue(), REGISTRATION_INTERVAL);
        });
  }

  private void onAssignmentOffered(
      RunDescriptor descriptor, NodeAssignment assignment, ActorRef<NodeRegistry.Command> sender) {
    if (!registry.equals(Optional.of(sender))) {
      return; // The registry of a former coordinator.
    }
    timers.cancel(new RegistrationDue());
    if (assignment.placed() && !assignment.hasSlot()) {
      timers.startSingleTimer(new RegistrationDue(), SPARE_REGISTRATION_INTERVAL);
    }
    if (run.equals(Optional.of(descriptor.run()))) {
      onReassigned(descriptor, assignment);
      return;
    }
    if (leaving || !childTable.alive().isEmpty()) {
      return; // The processes of the last run end first; then the agent registers again.
    }
    timers.cancel(new DrainTimedOut());
    weights = Optional.empty();
    ranks = Set.of();
    standbys = Set.of();
    rankRegistryAddress = descriptor.ranks();
    run = Optional.of(descriptor.run());
    childTable = ChildTable.EMPTY;
    wiring
        .say()
        .accept(
            "works for %s; its coordinator is at %s"
                .formatted(descriptor.run(), sender.path().address()));
    startPlanning(descriptor, assignment);
  }

  /**
   * The run has a new coordinator, which the workers find themselves, or the node has a new
   * assignment.
   */
  private void onReassigned(RunDescriptor descriptor, NodeAssignment assignment) {
    rankRegistryAddress = descriptor.ranks();
    ranks.stream().filter(childTable.alive()::containsKey).forEach(this::sendCoordinatorAddress);
    announceWeightServer();
    if (leaving || releasedRun.isPresent() || !assignment.placed()) {
      return;
    }
    if (assignment.hasSlot() && slot == NodeAssignment.STANDBY.slot()) {
      wiring.say().accept("was spare, and is now " + assignment.text());
      startPlanning(descriptor, assignment);
    } else if (!assignment.hasSlot() && slot >= 0) {
      releaseSlot(descriptor);
    }
  }

  /** Another node has the slot: this node stops the slot's processes and becomes spare. */
  private void releaseSlot(RunDescriptor descriptor) {
    report("another node is node %d of the placement now; this one becomes spare".formatted(slot));
    slot = NodeAssignment.STANDBY.slot();
    releasedRun = Optional.of(descriptor);
    childTable.restarts().keySet().stream()
        .filter(name -> !standbys.contains(name))
        .forEach(timers::cancel);
    childTable = childTable.release(standbys);
    if (childTable.released().isEmpty()) {
      onSlotReleased();
      return;
    }
    childTable.released().forEach(wiring.children()::drain);
    timers.startSingleTimer(new ReleaseTimedOut(), wiring.drainTimeout());
  }

  private void onSlotReleased() {
    timers.cancel(new ReleaseTimedOut());
    releasedRun.ifPresent(descriptor -> startPlanning(descriptor, NodeAssignment.STANDBY));
    releasedRun = Optional.empty();
    register();
  }

  private void startPlanning(RunDescriptor descriptor, NodeAssignment assignment) {
    slot = assignment.slot();
    ActorRef<Command> self = getContext().getSelf();
    getContext()
        .pipeToSelf(
            wiring.children().onStarterThread(() -> planProcesses(descriptor, assignment, self)),
            (plan, failure) ->
                failure == null
                    ? new PlanReady(assignment.slot(), plan)
                    : new PlanFailed(assignment.slot(), message(failure)));
  }

  private void onPlanReady(int plannedSlot, ProcessPlan plan) {
    if (plannedSlot != slot) {
      return; // The node has another slot by now, or none.
    }
    weights = plan.weights();
    ranks = plan.ranks();
    standbys = plan.standbys();
    announceWeightServer(); // Before the first worker asks for weights.
    ChildTable.StartPlan startPlan = childTable.plan(plan.children());
    childTable = startPlan.table();
    startPlan.starts().forEach(this::start);
    startPlan.outdated().forEach(wiring.children()::drain); // A coordinator continues.
  }

  private void onPlanFailed(int plannedSlot, String reason) {
    report(reason);
    if (plannedSlot == slot && plannedSlot >= 0) {
      slot = NodeAssignment.STANDBY.slot();
      registry.ifPresent(
          one ->
              one.tell(
                  new NodeRegistry.RejectAssignment(wiring.name(), run.orElse(""), plannedSlot)));
      timers.startSingleTimer(new RegistrationDue(), SPARE_REGISTRATION_INTERVAL);
    }
  }

  private void announceWeightServer() {
    weights.ifPresent(
        server ->
            registry.ifPresent(
                one ->
                    one.tell(
                        new NodeRegistry.AnnounceWeightServer(wiring.name(), server.toString()))));
  }

  private void onWeightsFetched(WeightRef weightRef, FetchOutcome outcome) {
    switch (outcome) {
      case FetchOutcome.Ready(var _, var stats) -> reportTransfer(weightRef, stats, "");
      case FetchOutcome.Failed(String reason, var stats) ->
          reportTransfer(weightRef, stats, reason);
      case FetchOutcome.Superseded _ -> {}
    }
  }

  private void reportTransfer(
      WeightRef weightRef, FetchOutcome.TransferStats stats, String failure) {
    NodeRegistry.ReportTransfer report =
        new NodeRegistry.ReportTransfer(
            wiring.name(),
            weightRef.version().number(),
            weightRef.digest(),
            stats.fetched(),
            stats.reused(),
            stats.took().toMillis(),
            stats.failures().stream()
                .map(
                    one ->
                        new NodeRegistry.ReportTransfer.AbandonedSource(
                            HostPort.of(one.source()).toString(), one.reason(), one.faulty()))
                .toList(),
            failure);
    registry.ifPresent(one -> one.tell(report));
  }

  private ProcessPlan planProcesses(
      RunDescriptor descriptor, NodeAssignment assignment, ActorRef<Command> self) {
    try {
      return wiring
          .planner()
          .plan(
              descriptor,
              assignment,
              (weightRef, outcome) -> self.tell(new WeightsFetched(weightRef, outcome)));
    } catch (IOException unusable) {
      throw new UncheckedIOException(unusable);
    }
  }

  private void start(ChildSpec child) {
    if (leaving || run.isEmpty()) {
      return;
    }
    childTable = childTable.started(child);
    getContext()
        .pipeToSelf(
            wiring.children().start(child),
            (exit, failure) ->
                failure == null
                    ? new ChildEnded(child, exit)
                    : new ChildNotStarted(child, message(failure)));
    if (ranks.contains(child.name())) {
      sendCoordinatorAddress(child.name());
    }
  }

  /** Sends a rank the coordinator's address; without a coordinator it waits for this line. */
  private void sendCoordinatorAddress(String rank) {
    wiring.children().writeLine(rank, ChildProcesses.COORDINATOR + rankRegistryAddress);
  }

  private void onStopChild(String node, String child, long pid) {
    if (node.equals(wiring.name())) {
      report("%s (process %d) does not answer and is stopped".formatted(child, pid));
      wiring.children().kill(child, pid);
    }
  }

  private void onChildEnded(ChildSpec child, int exit) {
    ChildTable.ChildEnd ended = childTable.ended(child.name(), exit, wiring.millis().getAsLong());
    childTable = ended.table();
    if (childTable.alive().isEmpty() && run.isEmpty() && !leaving) {
      register();
    }
    if (leaving || run.isEmpty()) {
      return; // The agent has stopped it.
    }
    switch (ended.outcome()) {
      case ChildTable.Outcome.Finished() -> {}
      case ChildTable.Outcome.AllReleased() -> onSlotReleased();
      case ChildTable.Outcome.Replaced(ChildSpec by) -> start(by);
      case ChildTable.Outcome.Restart(long millis) -> {
        reportEnd(child, exit, "it restarts in %d ms".formatted(millis));
        startLater(child, millis);
      }
      case ChildTable.Outcome.BackOff(int ends, long millis) -> {
        reportEnd(
            child,
            exit,
            "that was failure %d in a row; it restarts in %d min"
                .formatted(ends, Duration.ofMillis(millis).toMinutes()));
        startLater(child, millis);
        if (childTable.allBackingOff()) {
          report(
              "no process of this node runs: all %d ended too often, and each restarts after"
                      .formatted(childTable.restarts().size())
                  + " a pause; their logs say why");
        }
      }
    }
  }

  private void startLater(ChildSpec child, long millis) {
    timers.startSingleTimer(child.name(), new RestartDue(child), Duration.ofMillis(millis));
  }

  private void reportEnd(ChildSpec child, int exit, String then) {
    report("%s ended with code %d; %s (log: %s)".formatted(child.name(), exit, then, child.log()));
  }

  private void onRestartDue(ChildSpec child) {
    if (!childTable.alive().containsKey(child.name())) {
      start(child);
    }
  }

  private void onRunEnded(String ended) {
    if (run.equals(Optional.of(ended))) {
      wiring.say().accept(ended + " is over");
      run = Optional.empty();
      weights = Optional.empty();
      slot = NodeAssignment.UNMANAGED.slot();
      releasedRun = Optional.empty();
      var _ = wiring.children().onStarterThread(this::endRun);
      childTable.restarts().keySet().forEach(timers::cancel);
      childTable = childTable.withoutWanted();
      childTable.alive().keySet().forEach(wiring.children()::drain);
      timers.startSingleTimer(new DrainTimedOut(), wiring.drainTimeout());
    }
  }

  private boolean endRun() {
    wiring.planner().runEnded();
    return true;
  }

  private void onDrain(String node, ActorRef<JoinGate.Reply> replyTo) {
    if (node.equals(wiring.name())) {
      replyTo.tell(
          new JoinGate.Accepted(
              "node %s drains: %d processes finish their work, then it leaves"
                  .formatted(node, childTable.alive().size())));
      onLeave();
    }
  }

  private void onLeave() {
    if (!leaving) {
      leaving = true;
      wiring.say().accept("drains: groups in flight finish, then it leaves");
      childTable.alive().keySet().forEach(wiring.children()::drain);
      timers.startSingleTimer(new DrainTimedOut(), wiring.drainTimeout());
    }
  }

  /** Reports to the node's operator and to the run's operator. */
  private void report(String sentence) {
    wiring.say().accept(sentence);
    registry.ifPresent(
        one ->
            one.tell(
                new NodeRegistry.NotifyOperator("node %s: %s".formatted(wiring.name(), sentence))));
  }

  private static String message(Throwable failure) {
    return String.valueOf(Causes.inside(failure, List.of(UncheckedIOException.class)).getMessage());
  }
}
