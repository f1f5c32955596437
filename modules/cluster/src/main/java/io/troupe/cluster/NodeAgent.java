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
 * The guardian of a node: asks the desk of a run what there is to do, starts the processes that do
 * it, starts them again when they end early, and reports what it gives up.
 *
 * <p>It works for one run at a time and waits for the next when that is over.
 */
public final class NodeAgent extends AbstractOnMessageBehavior<NodeAgent.Command> {
  public sealed interface Command {}

  /** There is a run to work for. */
  public record AssignmentOffered(
      RunDescriptor descriptor, NodeAssignment assignment, ActorRef<NodeRegistry.Command> registry)
      implements Command, WireMessage {}

  /** The run is over. */
  public record RunEnded(String run) implements Command, WireMessage {}

  /**
   * End a process that does not answer, if that is this node's name and the process has the pid.
   */
  public record StopChild(String node, String child, long pid) implements Command, WireMessage {}

  /** Drain this node, if that is its name. */
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

  /** Which processes a run needs on this node. */
  public interface ProcessPlanner {
    /**
     * Makes everything ready for them; may block.
     *
     * @param share of this node in the run's placement
     * @param arrivals told how each transfer of weights to this node ended
     * @throws IOException if this node cannot work for the run; says why and what to do
     */
    ProcessPlan plan(
        RunDescriptor terms, NodeAssignment share, BiConsumer<WeightRef, FetchOutcome> arrivals)
        throws IOException;

    /** Lets go of what the run had here beside its processes; may block. */
    void runEnded();
  }

  /**
   * What a run gets from a node.
   *
   * @param children to start
   * @param weights where its weight server listens; none if it has none
   * @param ranks names of those children that report to the head wherever it is
   * @param standbys names of those that are the head, or wait to become it, whatever seat the node
   *     has
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
   * Everything a node agent works with.
   *
   * @param name of the node, unique in the cluster
   * @param known takes whom it meets in the cluster
   * @param probe answer for this process and its machine
   * @param say takes a sentence for the node's operator
   * @param onLeft called when the node has drained and leaves
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

  /** Between a spare's questions: a seat that was offered and lost on the way is offered again. */
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

  /** An agent that looks for work until it is drained. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new NodeAgent(context, timers, wiring)));
  }

  private NodeAgent(ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.wiring = wiring;
    this.timers = timers;
    context.spawn(JoinGate.create(wiring.identity()), JoinGate.NAME);
    context.spawn(MemberTracker.create(wiring.known()), "acquaintances");
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
      case RegistryTerminated(ActorRef<NodeRegistry.Command> gone) -> onRegistryTerminated(gone);
      case RegistrationDue _ -> register();
      case AssignmentOffered(
              RunDescriptor terms,
              NodeAssignment share,
              ActorRef<NodeRegistry.Command> from) ->
          onAssignmentOffered(terms, share, from);
      case PlanReady(int of, ProcessPlan muster) -> onPlanReady(of, muster);
      case WeightsFetched(WeightRef came, FetchOutcome outcome) -> onWeightsFetched(came, outcome);
      case PlanFailed(int of, String reason) -> onPlanFailed(of, reason);
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
      case RunEnded(String over) -> onRunEnded(over);
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

  /** Its run is over, or its host is gone: nobody is asked until there is another one. */
  private void onRegistryTerminated(ActorRef<NodeRegistry.Command> gone) {
    if (registry.equals(Optional.of(gone))) {
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
      RunDescriptor terms, NodeAssignment share, ActorRef<NodeRegistry.Command> from) {
    if (!registry.equals(Optional.of(from))) {
      return; // Of a head that another one has followed.
    }
    timers.cancel(new RegistrationDue());
    if (share.placed() && !share.hasSlot()) {
      timers.startSingleTimer(new RegistrationDue(), SPARE_REGISTRATION_INTERVAL);
    }
    if (run.equals(Optional.of(terms.run()))) {
      onReassigned(terms, share);
      return;
    }
    if (leaving || !childTable.alive().isEmpty()) {
      return; // What is left of the last run ends first; then it is asked again.
    }
    timers.cancel(new DrainTimedOut());
    weights = Optional.empty();
    ranks = Set.of();
    standbys = Set.of();
    rankRegistryAddress = terms.ranks();
    run = Optional.of(terms.run());
    childTable = ChildTable.EMPTY;
    wiring
        .say()
        .accept("works for %s, whose head is at %s".formatted(terms.run(), from.path().address()));
    startPlanning(terms, share);
  }

  /** A new head of the same run, whom the workers find by themselves; or another seat. */
  private void onReassigned(RunDescriptor terms, NodeAssignment share) {
    rankRegistryAddress = terms.ranks();
    ranks.stream().filter(childTable.alive()::containsKey).forEach(this::sendCoordinatorAddress);
    announceWeightServer();
    if (leaving || releasedRun.isPresent() || !share.placed()) {
      return;
    }
    if (share.hasSlot() && slot == NodeAssignment.STANDBY.slot()) {
      wiring.say().accept("was spare, and is now " + share.text());
      startPlanning(terms, share);
    } else if (!share.hasSlot() && slot >= 0) {
      releaseSlot(terms);
    }
  }

  /** Another node has the seat by now: this one ends what it does there, and is a spare. */
  private void releaseSlot(RunDescriptor terms) {
    report("another one is node %d of the placement now; this one becomes spare".formatted(slot));
    slot = NodeAssignment.STANDBY.slot();
    releasedRun = Optional.of(terms);
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
    releasedRun.ifPresent(terms -> startPlanning(terms, NodeAssignment.STANDBY));
    releasedRun = Optional.empty();
    register();
  }

  private void startPlanning(RunDescriptor terms, NodeAssignment share) {
    slot = share.slot();
    ActorRef<Command> self = getContext().getSelf();
    getContext()
        .pipeToSelf(
            wiring.children().onStarterThread(() -> planProcesses(terms, share, self)),
            (crew, failure) ->
                failure == null
                    ? new PlanReady(share.slot(), crew)
                    : new PlanFailed(share.slot(), message(failure)));
  }

  private void onPlanReady(int of, ProcessPlan muster) {
    if (of != slot) {
      return; // It has been given another seat since, or lost this one.
    }
    weights = muster.weights();
    ranks = muster.ranks();
    standbys = muster.standbys();
    announceWeightServer(); // Before the first worker asks for any.
    ChildTable.StartPlan mustered = childTable.plan(muster.children());
    childTable = mustered.table();
    mustered.starts().forEach(this::start);
    mustered.outdated().forEach(wiring.children()::drain); // One that is the head goes on.
  }

  private void onPlanFailed(int of, String reason) {
    report(reason);
    if (of == slot && of >= 0) {
      slot = NodeAssignment.STANDBY.slot();
      registry.ifPresent(
          one -> one.tell(new NodeRegistry.RejectAssignment(wiring.name(), run.orElse(""), of)));
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

  private void onWeightsFetched(WeightRef came, FetchOutcome outcome) {
    switch (outcome) {
      case FetchOutcome.Ready(var _, var report) -> reportTransfer(came, report, "");
      case FetchOutcome.Failed(String reason, var report) -> reportTransfer(came, report, reason);
      case FetchOutcome.Superseded _ -> {}
    }
  }

  private void reportTransfer(WeightRef came, FetchOutcome.TransferStats report, String failure) {
    NodeRegistry.ReportTransfer brought =
        new NodeRegistry.ReportTransfer(
            wiring.name(),
            came.version().number(),
            came.digest(),
            report.fetched(),
            report.reused(),
            report.took().toMillis(),
            report.failures().stream()
                .map(
                    one ->
                        new NodeRegistry.ReportTransfer.AbandonedSource(
                            HostPort.of(one.source()).toString(), one.reason(), one.faulty()))
                .toList(),
            failure);
    registry.ifPresent(one -> one.tell(brought));
  }

  private ProcessPlan planProcesses(
      RunDescriptor terms, NodeAssignment share, ActorRef<Command> self) {
    try {
      return wiring
          .planner()
          .plan(terms, share, (came, outcome) -> self.tell(new WeightsFetched(came, outcome)));
    } catch (IOException unfit) {
      throw new UncheckedIOException(unfit);
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

  /** A rank of a head that is gone waits to hear of the next one. */
  private void sendCoordinatorAddress(String rank) {
    wiring.children().writeLine(rank, ChildProcesses.COORDINATOR + rankRegistryAddress);
  }

  private void onStopChild(String node, String child, long pid) {
    if (node.equals(wiring.name())) {
      report("%s (process %d) does not answer, and is ended".formatted(child, pid));
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
      return; // It was told to.
    }
    switch (ended.outcome()) {
      case ChildTable.Outcome.Finished() -> {}
      case ChildTable.Outcome.AllReleased() -> onSlotReleased();
      case ChildTable.Outcome.Replaced(ChildSpec by) -> start(by);
      case ChildTable.Outcome.Restart(long millis) -> {
        reportEnd(child, exit, "it is started again in %d ms".formatted(millis));
        startLater(child, millis);
      }
      case ChildTable.Outcome.BackOff(int ends, long millis) -> {
        reportEnd(
            child,
            exit,
            "that was %d times in a row, and it is started again in %d min"
                .formatted(ends, Duration.ofMillis(millis).toMinutes()));
        startLater(child, millis);
        if (childTable.allBackingOff()) {
          report(
              "no process of this node runs: all %d ended too often, and each is started again after"
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

  private void onRunEnded(String over) {
    if (run.equals(Optional.of(over))) {
      wiring.say().accept(over + " is over");
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
              "node %s drains: %d processes finish what they have begun, then it leaves"
                  .formatted(node, childTable.alive().size())));
      onLeave();
    }
  }

  private void onLeave() {
    if (!leaving) {
      leaving = true;
      wiring.say().accept("drains: groups in flight may finish, then it leaves");
      childTable.alive().keySet().forEach(wiring.children()::drain);
      timers.startSingleTimer(new DrainTimedOut(), wiring.drainTimeout());
    }
  }

  /** Tells the operator here, and the one of the run. */
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
