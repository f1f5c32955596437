package io.troupe.cluster.diagnostics;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.DispatcherSelector;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.receptionist.Receptionist;
import akka.actor.typed.receptionist.ServiceKey;
import io.troupe.base.failure.Causes;
import io.troupe.runtime.WireMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Reports on its process (state, thread dump, sampled stacks) and carries out operators' requests
 * to that process. It works only on request, and on a few requests at a time.
 */
public final class Diagnostics extends AbstractOnMessageBehavior<Diagnostics.Command> {
  /** The name that it is spawned under, and of its service. */
  public static final String NAME = "diagnostics";

  /** The receptionist's key. */
  static final ServiceKey<Command> SERVICE_KEY = ServiceKey.create(Command.class, NAME);

  private static final int MAX_CONCURRENT = 4;

  public sealed interface Command {}

  /** The subject of a request to a process. */
  public enum Topic {
    /** The process's actors, verifiers, accelerators and load. */
    REPORT,
    /** The process's thread dump. */
    THREADS,
    /** The process's stacks, sampled for the number of seconds in the argument. */
    FLAME,
    /** Take the verifier that the argument names out of service. */
    QUARANTINE,
    /** Put that verifier back into service. */
    RELEASE,
    /** Finish the work in flight, then leave. */
    DRAIN
  }

  /** A request. */
  public record Inspect(Topic topic, String argument, ActorRef<Answer> replyTo)
      implements Command, WireMessage {}

  /**
   * An answer.
   *
   * @param bytes the result, in a form that both sides know; small enough for one message
   * @param error why there is no result; "" if there is one
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Answer(String jvm, byte[] bytes, String error) implements WireMessage {}

  private record Inspected(ActorRef<Answer> replyTo, Answer answer) implements Command {}

  /** Inspects a process. */
  @FunctionalInterface
  public interface Probe {
    /**
     * Answers a request. May block.
     *
     * @throws IOException if there is no answer; the message says why
     */
    byte[] inspect(Topic topic, String argument) throws IOException, InterruptedException;
  }

  private final String jvm;
  private final Probe probe;
  private final Executor blocking;
  private int busy;

  /**
   * Diagnostics that every process of the cluster can request.
   *
   * @param jvm name of this process, unique in the cluster
   */
  public static Behavior<Command> create(String jvm, Probe probe) {
    return Behaviors.setup(context -> new Diagnostics(context, jvm, probe));
  }

  private Diagnostics(ActorContext<Command> context, String jvm, Probe probe) {
    super(context);
    this.jvm = jvm;
    this.probe = probe;
    this.blocking = context.getSystem().dispatchers().lookup(DispatcherSelector.blocking());
    context.getSystem().receptionist().tell(Receptionist.register(SERVICE_KEY, context.getSelf()));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Inspect request -> onInspect(request);
      case Inspected(ActorRef<Answer> replyTo, Answer answer) -> {
        busy--;
        replyTo.tell(answer);
      }
    }
    return this;
  }

  private void onInspect(Inspect request) {
    if (busy >= MAX_CONCURRENT) {
      request.replyTo().tell(refused("%s answers %d requests already".formatted(jvm, busy)));
      return;
    }
    busy++;
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(() -> inspect(request), blocking),
            (bytes, failure) ->
                new Inspected(
                    request.replyTo(),
                    failure == null
                        ? new Answer(jvm, bytes, "")
                        : refused(String.valueOf(Causes.root(failure).getMessage()))));
  }

  private byte[] inspect(Inspect request) {
    try {
      return probe.inspect(request.topic(), request.argument());
    } catch (IOException failure) {
      throw new UncheckedIOException(String.valueOf(failure.getMessage()), failure);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(jvm + " ends", stopping);
    }
  }

  private Answer refused(String why) {
    return new Answer(jvm, new byte[0], why);
  }
}
