package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.Backoff;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FetchOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The state of a node agent, and the decision what follows a message. Pure: each transition returns
 * the next state and the actions that the agent carries out, in order.
 *
 * @param name name of the node
 * @param until condition under which the node leaves by itself
 * @param drainTimeout time after which processes that were asked to end are killed
 * @param children processes of the run
 * @param registry registry of the coordinator that the node works for
 * @param work the run's work on this node
 * @param leaving whether the node drains, and ends once its processes have ended
 */
record NodeState(
    String name,
    NodeAgent.Until until,
    Duration drainTimeout,
    ChildTable children,
    Optional<ActorRef<NodeRegistry.Command>> registry,
    Work work,
    boolean leaving) {
  private static final Duration REGISTRATION_INTERVAL = Duration.ofSeconds(2);

  /**
   * The interval of a spare node, so that an assignment that was lost on the way is offered again.
   */
  private static final Duration SPARE_REGISTRATION_INTERVAL = Duration.ofSeconds(10);

  /** Pauses before an assignment that failed is tried again: 10 s, 20 s, … 5 min. */
  private static final Backoff ASSIGNMENT_PAUSES = new Backoff(10_000, 300_000);

  /** A state and the actions that lead to it, in order. */
  record Next(NodeState state, List<NodeAction> actions) {
    Next {
      actions = List.copyOf(actions);
    }

    private Next then(Stream<? extends NodeAction> more) {
      return new Next(state, Stream.concat(actions.stream(), more).toList());
    }

    private Next then(NodeAction... more) {
      return then(Stream.of(more));
    }

    private Next then(Function<NodeState, Next> transition) {
      Next next = transition.apply(state);
      return new Next(next.state, actions).then(next.actions.stream());
    }
  }

  /**
   * The work of a run on this node.
   *
   * @param run name of the run, if the node works for one
   * @param slot {@link NodeAssignment#slot} of the node's assignment
   * @param rankRegistry address where trainer ranks report to the coordinator
   * @param weights address of the node's weight server, if it has one
   * @param ranks names of the children that are trainer ranks
   * @param standbys names of the children that coordinate or stand by
   * @param released the run, while the processes of a slot that another node has now end
   * @param refusal an assignment that failed; empty once an assignment of the run succeeds
   */
  record Work(
      Optional<String> run,
      int slot,
      String rankRegistry,
      Optional<HostPort> weights,
      Set<String> ranks,
      Set<String> standbys,
      Optional<RunDescriptor> released,
      Optional<Refusal> refusal) {
    private static final Work NONE =
        new Work(
            Optional.empty(),
            NodeAssignment.UNMANAGED.slot(),
            "",
            Optional.empty(),
            Set.of(),
            Set.of(),
            Optional.empty(),
            Optional.empty());

    private static Work on(RunDescriptor descriptor) {
      return new Work(
          Optional.of(descriptor.run()),
          NONE.slot,
          descriptor.ranks(),
          NONE.weights,
          NONE.ranks,
          NONE.standbys,
          NONE.released,
          NONE.refusal);
    }

    private Work planned(NodeAgent.ProcessPlan plan) {
      return new Work(
          run,
          slot,
          rankRegistry,
          plan.weights(),
          plan.ranks(),
          plan.standbys(),
          released,
          Optional.empty());
    }

    private Work withSlot(int newer) {
      return new Work(run, newer, rankRegistry, weights, ranks, standbys, released, refusal);
    }

    private Work withRankRegistry(String newer) {
      return new Work(run, slot, newer, weights, ranks, standbys, released, refusal);
    }

    private Work withReleased(Optional<RunDescriptor> newer) {
      return new Work(run, slot, rankRegistry, weights, ranks, standbys, newer, refusal);
    }

    private Work withRefusal(Refusal newer) {
      return new Work(
          run, slot, rankRegistry, weights, ranks, standbys, released, Optional.of(newer));
    }

    /** Returns the slot to register with: of an assignment to try again, or of the present one. */
    private int wantedSlot() {
      return refusal.filter(Refusal::due).map(Refusal::slot).orElse(slot);
    }

    private boolean isFor(String other) {
      return run.equals(Optional.of(other));
    }
  }

  /**
   * An assignment that failed, because this node could not plan its processes.
   *
   * @param slot {@link NodeAssignment#slot} of the assignment
   * @param times number of failures in a row
   * @param due whether the pause after the last failure is over
   */
  record Refusal(int slot, int times, boolean due) {
    private Duration pause() {
      return Duration.ofMillis(ASSIGNMENT_PAUSES.pauseMillis(times));
    }

    private Refusal withDue(boolean now) {
      return new Refusal(slot, times, now);
    }
  }

  /** A node without registry and run. */
  static NodeState starting(String name, NodeAgent.Until until, Duration drainTimeout) {
    return new NodeState(
        name, until, drainTimeout, ChildTable.EMPTY, Optional.empty(), Work.NONE, false);
  }

  /** Whether the node has drained. */
  boolean ended() {
    return leaving && children.alive().isEmpty();
  }

  /** Notes the registries that exist. */
  Next registriesFound(Set<ActorRef<NodeRegistry.Command>> found) {
    Optional<ActorRef<NodeRegistry.Command>> other =
        found.stream().filter(one -> !registry.equals(Optional.of(one))).findFirst();
    if (other.isEmpty() || leaving) {
      return next();
    }
    return with(other)
        .next(registry.stream().map(NodeAction.Unwatch::new))
        .then(new NodeAction.Watch(other.get()))
        .then(NodeState::register);
  }

  /**
   * The run is over or the registry's host is gone. The agent registers again once it finds another
   * registry.
   */
  Next registryTerminated(ActorRef<NodeRegistry.Command> ended) {
    return registry.equals(Optional.of(ended))
        ? with(Optional.empty()).next(new NodeAction.CancelTimer(NodeAction.Timer.REGISTRATION))
        : next();
  }

  private Next register() {
    return next(
        registry.stream()
            .flatMap(
                one ->
                    Stream.of(
                        new NodeAction.Register(one, work.run().orElse(""), work.wantedSlot()),
                        new NodeAction.Schedule(
                            NodeAction.Timer.REGISTRATION, REGISTRATION_INTERVAL))));
  }

  /** The registry of a run assigns this node a slot, or none yet. */
  Next assignmentOffered(
      RunDescriptor descriptor, NodeAssignment assignment, ActorRef<NodeRegistry.Command> sender) {
    if (!registry.equals(Optional.of(sender))) {
      return next(); // The registry of a former coordinator.
    }
    Next next = next(new NodeAction.CancelTimer(NodeAction.Timer.REGISTRATION));
    if (assignment.placed() && !assignment.hasSlot()) {
      next =
          next.then(
              new NodeAction.Schedule(NodeAction.Timer.REGISTRATION, SPARE_REGISTRATION_INTERVAL));
    }
    if (work.isFor(descriptor.run())) {
      return next.then(state -> state.reassigned(descriptor, assignment));
    }
    if (leaving || !children.alive().isEmpty()) {
      return next; // The processes of the last run end first; then the agent registers again.
    }
    return next.then(
            new NodeAction.CancelTimer(NodeAction.Timer.DRAIN),
            new NodeAction.CancelTimer(NodeAction.Timer.ASSIGNMENT),
            new NodeAction.Say(
                "works for %s; its coordinator is at %s"
                    .formatted(descriptor.run(), sender.path().address())))
        .then(cancelRestarts())
        .then(
            state ->
                state
                    .with(ChildTable.EMPTY)
                    .with(Work.on(descriptor))
                    .plan(descriptor, assignment));
  }

  /**
   * The run has a new coordinator, which the workers find themselves, or the node has a new
   * assignment.
   */
  private Next reassigned(RunDescriptor descriptor, NodeAssignment assignment) {
    NodeState moved = with(work.withRankRegistry(descriptor.ranks()));
    Next next =
        moved
            .next(
                work.ranks().stream()
                    .filter(children.alive()::containsKey)
                    .map(moved::coordinatorAddress))
            .then(announceWeightServer());
    if (leaving || work.released().isPresent()) {
      return next;
    }
    Optional<Refusal> due = work.refusal().filter(Refusal::due);
    if (due.isPresent()) {
      return next.then(state -> state.retried(due.get(), descriptor, assignment));
    }
    if (!assignment.placed()) {
      return next;
    }
    if (assignment.hasSlot() && work.slot() == NodeAssignment.STANDBY.slot()) {
      return next.then(new NodeAction.Say("was spare, and is now " + assignment.text()))
          .then(state -> state.plan(descriptor, assignment));
    }
    return !assignment.hasSlot() && work.slot() >= 0
        ? next.then(state -> state.releaseSlot(descriptor))
        : next;
  }

  /** A registry has answered a node that wants to try an assignment again. */
  private Next retried(Refusal refusal, RunDescriptor descriptor, NodeAssignment assignment) {
    NodeState asked = with(work.withRefusal(refusal.withDue(false)));
    return assignment.hasSlot() || assignment.slot() == refusal.slot()
        ? asked
            .next(
                new NodeAction.Say(
                    "tries again to work for %s (attempt %d)"
                        .formatted(descriptor.run(), refusal.times() + 1)))
            .then(state -> state.plan(descriptor, assignment))
        : asked.next(new NodeAction.Schedule(NodeAction.Timer.ASSIGNMENT, refusal.pause()));
  }

  /** Another node has the slot: this node stops the slot's processes and becomes spare. */
  private Next releaseSlot(RunDescriptor descriptor) {
    ChildTable kept = children.release(work.standbys());
    Next next =
        with(kept)
            .with(
                work.withSlot(NodeAssignment.STANDBY.slot()).withReleased(Optional.of(descriptor)))
            .next(
                report(
                    "another node is node %d of the placement now; this one becomes spare"
                        .formatted(work.slot())))
            .then(
                children.restarts().keySet().stream()
                    .filter(child -> !work.standbys().contains(child))
                    .map(NodeAction.CancelRestart::new));
    return kept.released().isEmpty()
        ? next.then(NodeState::slotReleased)
        : next.then(kept.released().stream().map(NodeAction.Drain::new))
            .then(new NodeAction.Schedule(NodeAction.Timer.RELEASE, drainTimeout));
  }

  private Next slotReleased() {
    Next next =
        with(work.withReleased(Optional.empty()))
            .next(new NodeAction.CancelTimer(NodeAction.Timer.RELEASE));
    return work.released()
        .map(run -> next.then(state -> state.plan(run, NodeAssignment.STANDBY)))
        .orElse(next)
        .then(NodeState::register);
  }

  private Next plan(RunDescriptor descriptor, NodeAssignment assignment) {
    return with(work.withSlot(assignment.slot())).next(new NodeAction.Plan(descriptor, assignment));
  }

  /**
   * The processes of an assignment are planned.
   *
   * @param run that they are for
   * @param slot of the assignment
   */
  Next planReady(String run, int slot, NodeAgent.ProcessPlan plan) {
    if (!work.isFor(run) || slot != work.slot()) {
      return next(); // The node has another assignment by now, or none.
    }
    ChildTable.StartPlan startPlan = children.plan(plan.children());
    NodeState planned = with(work.planned(plan)).with(startPlan.table());
    Next next =
        planned
            .next(new NodeAction.CancelTimer(NodeAction.Timer.ASSIGNMENT))
            .then(planned.announceWeightServer()); // Before a worker asks for weights.
    for (ChildSpec child : startPlan.starts()) {
      next = next.then(state -> state.start(child));
    }
    return next.then(
        startPlan.outdated().stream().map(NodeAction.Drain::new)); // A coordinator continues.
  }

  /**
   * The processes of an assignment cannot be planned; parameters as in {@link #planReady}. The
   * cause may end, such as a full disk or a GPU of another program, so the node tries again after a
   * pause that grows. Meanwhile another node may take the slot.
   */
  Next planFailed(String run, int slot, String reason) {
    if (!work.isFor(run) || slot != work.slot()) {
      return next(report(reason));
    }
    Refusal refusal = new Refusal(slot, work.refusal().map(Refusal::times).orElse(0) + 1, false);
    Next next =
        with(work.withRefusal(refusal))
            .next(
                report(
                    "%s; this node tries again in %d s"
                        .formatted(reason, refusal.pause().toSeconds())))
            .then(new NodeAction.Schedule(NodeAction.Timer.ASSIGNMENT, refusal.pause()));
    return slot < 0
        ? next
        : next.then(state -> state.with(state.work.withSlot(NodeAssignment.STANDBY.slot())).next())
            .then(tell(new NodeRegistry.RejectAssignment(name, run, slot)))
            .then(
                new NodeAction.Schedule(
                    NodeAction.Timer.REGISTRATION, SPARE_REGISTRATION_INTERVAL));
  }

  /** The pause after an assignment that failed is over. */
  private Next retryDue() {
    return work.refusal().isPresent() && !leaving
        ? with(work.withRefusal(work.refusal().get().withDue(true))).register()
        : next();
  }

  private Stream<NodeAction> announceWeightServer() {
    return work.weights().stream()
        .flatMap(server -> tell(new NodeRegistry.AnnounceWeightServer(name, server.toString())));
  }

  /** A transfer of weights to this node has ended. */
  Next transferEnded(WeightRef weights, FetchOutcome outcome) {
    return switch (outcome) {
      case FetchOutcome.Ready(var _, var stats) -> transfer(weights, stats, "");
      case FetchOutcome.Failed(String reason, var stats) -> transfer(weights, stats, reason);
      case FetchOutcome.Superseded _ -> next();
    };
  }

  private Next transfer(WeightRef weights, FetchOutcome.TransferStats stats, String failure) {
    return next(
        tell(
            new NodeRegistry.ReportTransfer(
                name,
                weights.version().number(),
                weights.digest(),
                stats.fetched(),
                stats.reused(),
                stats.took().toMillis(),
                stats.failures().stream()
                    .map(
                        one ->
                            new NodeRegistry.ReportTransfer.AbandonedSource(
                                HostPort.of(one.source()).toString(), one.reason(), one.faulty()))
                    .toList(),
                failure)));
  }

  private Next start(ChildSpec child) {
    if (leaving || work.run().isEmpty()) {
      return next();
    }
    Next next = with(children.started(child)).next(new NodeAction.Start(child));
    return work.ranks().contains(child.name()) ? next.then(coordinatorAddress(child.name())) : next;
  }

  /** The coordinator's address for a rank; without a coordinator the rank waits for this line. */
  private NodeAction coordinatorAddress(String rank) {
    return new NodeAction.SendCoordinator(rank, work.rankRegistry());
  }

  /** A process that does not answer is stopped, if it is one of this node. */
  Next stopChild(String node, String child, long pid) {
    return node.equals(name)
        ? next(report("%s (process %d) does not answer and is stopped".formatted(child, pid)))
            .then(new NodeAction.KillProcess(child, pid))
        : next();
  }

  /** A process has ended. */
  Next childEnded(ChildSpec child, ChildProcesses.Exit exit, long nowMillis) {
    return next(tell(new NodeRegistry.ReportChildEnd(child.name(), exit.pid())))
        .then(state -> state.ended(child, exit.code(), nowMillis));
  }

  /** A process could not be started. */
  Next childNotStarted(ChildSpec child, String reason, long nowMillis) {
    return next(report(reason)).then(state -> state.ended(child, -1, nowMillis));
  }

  private Next ended(ChildSpec child, int exit, long nowMillis) {
    ChildTable.ChildEnd ended = children.ended(child.name(), exit, nowMillis);
    NodeState after = with(ended.table());
    if (leaving || work.run().isEmpty()) { // The agent has stopped it.
      return !leaving && after.children.alive().isEmpty() ? after.register() : after.next();
    }
    return switch (ended.outcome()) {
      case ChildTable.Outcome.Finished() -> after.next();
      case ChildTable.Outcome.AllReleased() -> after.slotReleased();
      case ChildTable.Outcome.Replaced(ChildSpec by) -> after.start(by);
      case ChildTable.Outcome.Restart(long millis) ->
          after
              .next(reportEnd(child, exit, "it restarts in %d ms".formatted(millis)))
              .then(new NodeAction.ScheduleRestart(child, Duration.ofMillis(millis)));
      case ChildTable.Outcome.BackOff(int ends, long millis) ->
          after
              .next(
                  reportEnd(
                      child,
                      exit,
                      "that was failure %d in a row; it restarts in %d min"
                          .formatted(ends, Duration.ofMillis(millis).toMinutes())))
              .then(new NodeAction.ScheduleRestart(child, Duration.ofMillis(millis)))
              .then(after.allBackingOff());
    };
  }

  private Stream<NodeAction> allBackingOff() {
    return children.allBackingOff()
        ? report(
            "no process of this node runs: all %d ended too often, and each restarts after"
                    .formatted(children.restarts().size())
                + " a pause; their logs say why")
        : Stream.of();
  }

  private Stream<NodeAction> reportEnd(ChildSpec child, int exit, String then) {
    return report(
        "%s ended with code %d; %s (log: %s)".formatted(child.name(), exit, then, child.log()));
  }

  /** The pause before a process starts again is over. */
  Next restartDue(ChildSpec child) {
    return children.alive().containsKey(child.name()) ? next() : start(child);
  }

  /** Notes that a timer is due. */
  Next due(NodeAction.Timer timer) {
    return switch (timer) {
      case REGISTRATION -> register();
      case ASSIGNMENT -> retryDue();
      case DRAIN -> next(new NodeAction.KillAll());
      case RELEASE -> next(children.released().stream().map(NodeAction.Kill::new));
    };
  }

  /** A run is over: complete, or to be resumed. */
  Next runEnded(String run, boolean complete) {
    if (!work.isFor(run)) {
      return next();
    }
    Next next =
        with(children.withoutWanted())
            .with(Work.NONE)
            .next(
                new NodeAction.Say(run + " is over"),
                new NodeAction.CancelTimer(NodeAction.Timer.ASSIGNMENT),
                new NodeAction.EndRun())
            .then(cancelRestarts())
            .then(NodeState::drainAll);
    return complete && until == NodeAgent.Until.RUN_COMPLETE ? next.then(NodeState::leave) : next;
  }

  private Stream<NodeAction> cancelRestarts() {
    return children.restarts().keySet().stream().map(NodeAction.CancelRestart::new);
  }

  /** An operator drains a node. */
  Next drain(String node, ActorRef<JoinGate.Reply> replyTo) {
    return node.equals(name)
        ? next(new NodeAction.Reply(
                replyTo,
                new JoinGate.Accepted(
                    "node %s drains: %d processes finish their work, then it leaves"
                        .formatted(node, children.alive().size()))))
            .then(NodeState::leave)
        : next();
  }

  /** This node drains. */
  Next leave() {
    return leaving
        ? next()
        : new NodeState(name, until, drainTimeout, children, registry, work, true)
            .next(new NodeAction.Say("drains: groups in flight finish, then it leaves"))
            .then(NodeState::drainAll);
  }

  /**
   * This host ends soon: the node drains.
   *
   * @param reason as a sentence, for the operators of the node and of the run
   * @param left time until the host ends; processes that have not ended then are killed
   */
  Next leaveWithin(String reason, Duration left) {
    Duration within = left.compareTo(drainTimeout) < 0 ? left : drainTimeout;
    return next(report("%s; it drains within %d s".formatted(reason, within.toSeconds())))
        .then(NodeState::leave)
        .then(new NodeAction.Schedule(NodeAction.Timer.DRAIN, within));
  }

  private Next drainAll() {
    return next(children.alive().keySet().stream().map(NodeAction.Drain::new))
        .then(new NodeAction.Schedule(NodeAction.Timer.DRAIN, drainTimeout));
  }

  /** Reports to the node's operator and to the run's operator. */
  private Stream<NodeAction> report(String sentence) {
    return Stream.concat(
        Stream.of(new NodeAction.Say(sentence)),
        tell(new NodeRegistry.NotifyOperator("node %s: %s".formatted(name, sentence))));
  }

  private Stream<NodeAction> tell(NodeRegistry.Command message) {
    return registry.stream().map(one -> new NodeAction.Tell(one, message));
  }

  private Next next(NodeAction... actions) {
    return new Next(this, List.of(actions));
  }

  private Next next(Stream<? extends NodeAction> actions) {
    return next().then(actions);
  }

  private NodeState with(ChildTable newer) {
    return new NodeState(name, until, drainTimeout, newer, registry, work, leaving);
  }

  private NodeState with(Optional<ActorRef<NodeRegistry.Command>> newer) {
    return new NodeState(name, until, drainTimeout, children, newer, work, leaving);
  }

  private NodeState with(Work newer) {
    return new NodeState(name, until, drainTimeout, children, registry, newer, leaving);
  }
}
