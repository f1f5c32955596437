package io.troupe.run.console;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import io.troupe.runtime.Coordinator;

/**
 * A run whose actors have started.
 *
 * @param system the actor system of this process
 * @param coordinator takes the operator's orders
 */
public record StartedRun(ActorSystem<?> system, ActorRef<Coordinator.Command> coordinator) {}
