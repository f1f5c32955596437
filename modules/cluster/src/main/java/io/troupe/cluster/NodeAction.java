package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import io.troupe.base.process.ChildSpec;
import io.troupe.hosts.placement.NodeAssignment;
import java.time.Duration;

/** The action that a node agent takes once its state has decided. */
sealed interface NodeAction {
  /** Send a message to a registry. */
  record Tell(ActorRef<NodeRegistry.Command> registry, NodeRegistry.Command message)
      implements NodeAction {}

  /** Register with a registry; {@code run} and {@code slot} as in the message. */
  record Register(ActorRef<NodeRegistry.Command> registry, String run, int slot)
      implements NodeAction {}

  /** Watch a registry. */
  record Watch(ActorRef<NodeRegistry.Command> registry) implements NodeAction {}

  /** Watch a registry no longer. */
  record Unwatch(ActorRef<NodeRegistry.Command> registry) implements NodeAction {}

  /** Answer an order. */
  record Reply(ActorRef<JoinGate.Reply> replyTo, JoinGate.Reply reply) implements NodeAction {}

  /** Plan the processes of an assignment. */
  record Plan(RunDescriptor descriptor, NodeAssignment assignment) implements NodeAction {}

  /** Release what the run held on this node beside its processes. */
  record EndRun() implements NodeAction {}

  /** Start a process. */
  record Start(ChildSpec child) implements NodeAction {}

  /** Have a process finish its work and end. */
  record Drain(String child) implements NodeAction {}

  /** Kill a process. */
  record Kill(String child) implements NodeAction {}

  /** Kill a process if it has this pid. */
  record KillProcess(String child, long pid) implements NodeAction {}

  /** Kill all processes. */
  record KillAll() implements NodeAction {}

  /** Send a rank the coordinator's address. */
  record SendCoordinator(String rank, String address) implements NodeAction {}

  /** Start a timer. */
  record Schedule(Timer timer, Duration pause) implements NodeAction {}

  /** Stop a timer, if it runs. */
  record CancelTimer(Timer timer) implements NodeAction {}

  /** Start a process again after a pause. */
  record ScheduleRestart(ChildSpec child, Duration pause) implements NodeAction {}

  /** Do not start a process again, if that is scheduled. */
  record CancelRestart(String child) implements NodeAction {}

  /** Notify the node's operator. */
  record Say(String sentence) implements NodeAction {}

  /** The timers of a node agent. */
  enum Timer {
    /** The next registration. */
    REGISTRATION,
    /** The next attempt at an assignment that failed. */
    ASSIGNMENT,
    /** The end of all processes of a run or of a node that drains. */
    DRAIN,
    /** The end of the processes of a released slot. */
    RELEASE
  }
}
