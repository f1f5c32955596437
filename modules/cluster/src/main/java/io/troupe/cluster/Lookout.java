package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.DispatcherSelector;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.receptionist.Receptionist;
import akka.actor.typed.receptionist.ServiceKey;
import io.troupe.base.failure.Causes;
import io.troupe.runtime.Portable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Answers for the process it stands in: what it is at, where its threads stand, where its time
 * goes; and carries out what operators ask of a process. It works only when it is asked, and on a
 * few questions at a time.
 */
public final class Lookout extends AbstractOnMessageBehavior<Lookout.Command> {
  /** How it is found. */
  static final ServiceKey<Command> KEY = ServiceKey.create(Command.class, "lookouts");

  /** The name it is spawned under. */
  public static final String NAME = "lookout";

  private static final int MOST_AT_ONCE = 4;

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
  public record Ask(Topic topic, String argument, ActorRef<Answer> replyTo)
      implements Command, Portable {}

  /**
   * An answer.
   *
   * @param bytes what was asked for, in a form that both sides know; small enough for one message
   * @param trouble why there is none; "" if there is
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Answer(String jvm, byte[] bytes, String trouble) implements Portable {}

  private record Seen(ActorRef<Answer> replyTo, Answer answer) implements Command {}

  /** Looks. */
  @FunctionalInterface
  public interface Eyes {
    /**
     * Answers a question; may block.
     *
     * @throws IOException with why there is no answer
     */
    byte[] look(Topic topic, String argument) throws IOException, InterruptedException;
  }

  private final String jvm;
  private final Eyes eyes;
  private final Executor blocking;
  private int busy;

  /**
   * A lookout that can be asked from anywhere in the cluster.
   *
   * @param jvm the name of this process, unique in the cluster
   */
  public static Behavior<Command> create(String jvm, Eyes eyes) {
    return Behaviors.setup(context -> new Lookout(context, jvm, eyes));
  }

  private Lookout(ActorContext<Command> context, String jvm, Eyes eyes) {
    super(context);
    this.jvm = jvm;
    this.eyes = eyes;
    this.blocking = context.getSystem().dispatchers().lookup(DispatcherSelector.blocking());
    context.getSystem().receptionist().tell(Receptionist.register(KEY, context.getSelf()));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Ask ask -> onAsk(ask);
      case Seen(ActorRef<Answer> replyTo, Answer answer) -> {
        busy--;
        replyTo.tell(answer);
      }
    }
    return this;
  }

  private void onAsk(Ask ask) {
    if (busy >= MOST_AT_ONCE) {
      ask.replyTo().tell(refused("%s is being asked %d things already".formatted(jvm, busy)));
      return;
    }
    busy++;
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(() -> look(ask), blocking),
            (bytes, failure) ->
                new Seen(
                    ask.replyTo(),
                    failure == null
                        ? new Answer(jvm, bytes, "")
                        : refused(String.valueOf(Causes.root(failure).getMessage()))));
  }

  private byte[] look(Ask ask) {
    try {
      return eyes.look(ask.topic(), ask.argument());
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
