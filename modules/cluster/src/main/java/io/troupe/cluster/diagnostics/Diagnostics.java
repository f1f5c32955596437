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
 * Answers for the process it stands in: what it is at, where its threads stand, where its time
 * goes; and carries out what operators ask of a process. It works only when it is asked, and on a
 * few questions at a time.
 */
public final class Diagnostics extends AbstractOnMessageBehavior<Diagnostics.Command> {
  /** How it is found. */
  static final ServiceKey<Command> SERVICE_KEY = ServiceKey.create(Command.class, "lookouts");

  /** The name it is spawned under. */
  public static final String NAME = "lookout";

  private static final int MAX_CONCURRENT = 4;

  public sealed interface Command {}

  /** What somebody wants to know of a process, or wants it to do. */
  public enum Topic {
    /** Its actors, verifiers, accelerators and load. */
    REPORT,
    /** Its thread dump. */
    THREADS,
    /** Its stacks, sampled for as many seconds as the argument says. */
    FLAME,
    /** Take the verifier out of service that the argument names. */
    QUARANTINE,
    /** Put it back. */
    RELEASE,
    /** Finish what is begun, and leave. */
    DRAIN
  }

  /** A question. */
  public record Inspect(Topic topic, String argument, ActorRef<Answer> replyTo)
      implements Command, WireMessage {}

  /**
   * An answer.
   *
   * @param bytes what was asked for, in a form that both sides know; small enough for one message
   * @param error why there is none; "" if there is
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Answer(String jvm, byte[] bytes, String error) implements WireMessage {}

  private record Inspected(ActorRef<Answer> replyTo, Answer answer) implements Command {}

  /** Looks. */
  @FunctionalInterface
  public interface Probe {
    /**
     * Answers a question; may block.
     *
     * @throws IOException with why there is no answer
     */
    byte[] inspect(Topic topic, String argument) throws IOException, InterruptedException;
  }

  private final String jvm;
  private final Probe probe;
  private final Executor blocking;
  private int busy;

  /**
   * A lookout that can be asked from anywhere in the cluster.
   *
   * @param jvm the name of this process, unique in the cluster
   */
  public static Behavior<Command> create(String jvm, Probe eyes) {
    return Behaviors.setup(context -> new Diagnostics(context, jvm, eyes));
  }

  private Diagnostics(ActorContext<Command> context, String jvm, Probe eyes) {
    super(context);
    this.jvm = jvm;
    this.probe = eyes;
    this.blocking = context.getSystem().dispatchers().lookup(DispatcherSelector.blocking());
    context.getSystem().receptionist().tell(Receptionist.register(SERVICE_KEY, context.getSelf()));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Inspect ask -> onInspect(ask);
      case Inspected(ActorRef<Answer> replyTo, Answer answer) -> {
        busy--;
        replyTo.tell(answer);
      }
    }
    return this;
  }

  private void onInspect(Inspect ask) {
    if (busy >= MAX_CONCURRENT) {
      ask.replyTo().tell(refused("%s is being asked %d things already".formatted(jvm, busy)));
      return;
    }
    busy++;
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(() -> inspect(ask), blocking),
            (bytes, failure) ->
                new Inspected(
                    ask.replyTo(),
                    failure == null
                        ? new Answer(jvm, bytes, "")
                        : refused(String.valueOf(Causes.root(failure).getMessage()))));
  }

  private byte[] inspect(Inspect ask) {
    try {
      return probe.inspect(ask.topic(), ask.argument());
    } catch (IOException unseen) {
      throw new UncheckedIOException(String.valueOf(unseen.getMessage()), unseen);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(jvm + " ends", stopping);
    }
  }

  private Answer refused(String why) {
    return new Answer(jvm, new byte[0], why);
  }
}
