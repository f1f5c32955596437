package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.ChildFailed;
import akka.actor.typed.Signal;
import akka.actor.typed.SupervisorStrategy;
import akka.actor.typed.Terminated;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.core.outage.RestartBackoff;
import io.troupe.core.rollout.WorkerId;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.event.Level;

/**
 * Keeps one rollout worker running: starts another one when the worker has failed, after the pause
 * of {@link RestartBackoff}, and at once when an operator ordered a restart, which does not count
 * as a failure. It ends with a worker that ends by itself.
 *
 * <p>Each start is another actor. A supervisor of Akka would start the new worker behind the old
 * one's reference, and the new one would get what the old one's engine still answers.
 */
public final class WorkerSupervisor extends AbstractOnMessageBehavior<WorkerSupervisor.Command> {
  public sealed interface Command {}

  /** The worker finishes what is begun and ends. */
  public record Drain() implements Command {}

  private record StartAgain() implements Command {}

  /** An operator has asked for the restart. */
  static final class RestartOrdered extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RestartOrdered(WorkerId worker) {
      super(worker + " restarts because an operator asked for it");
    }
  }

  /**
   * In a process of its own a worker is started again twice; then it takes the process with it,
   * since memory and devices may be in a state that only a new process gets rid of.
   */
  private static final RestartBackoff.Settings IN_ITS_PROCESS =
      RestartBackoff.Settings.WITHIN_A_PROCESS;

  private final Behavior<RolloutWorker.Command> behavior;
  private final TimerScheduler<Command> timers;
  private final boolean givesUp;
  private final Consumer<String> say;
  private RestartBackoff restarts;
  private Optional<ActorRef<RolloutWorker.Command>> worker = Optional.empty();

  /**
   * For a worker beside the coordinator: no other process can start it, so it is never given up.
   *
   * @param say takes a sentence on each failure, on an actor's thread
   */
  static Behavior<Command> restarting(
      Behavior<RolloutWorker.Command> worker, Consumer<String> say) {
    return create(worker, RestartBackoff.Settings.DEFAULT, false, say);
  }

  /** For a worker with a process of its own, which another process starts. */
  public static Behavior<Command> failingFast(Behavior<RolloutWorker.Command> worker) {
    return create(worker, IN_ITS_PROCESS, true, _ -> {});
  }

  private static Behavior<Command> create(
      Behavior<RolloutWorker.Command> worker,
      RestartBackoff.Settings policy,
      boolean givesUp,
      Consumer<String> say) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new WorkerSupervisor(context, timers, worker, policy, givesUp, say)));
  }

  private WorkerSupervisor(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      Behavior<RolloutWorker.Command> worker,
      RestartBackoff.Settings policy,
      boolean givesUp,
      Consumer<String> say) {
    super(context);
    this.timers = timers;
    this.behavior =
        Behaviors.supervise(worker)
            .onFailure(RestartOrdered.class, SupervisorStrategy.stop().withLogLevel(Level.INFO));
    this.restarts = RestartBackoff.none(policy);
    this.givesUp = givesUp;
    this.say = say;
    start();
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Drain _ -> onDrain();
      case StartAgain _ -> {
        start();
        yield this;
      }
    };
  }

  private Behavior<Command> onDrain() {
    if (worker.isEmpty()) {
      return Behaviors.stopped();
    }
    worker.get().tell(new RolloutWorker.Drain());
    return this;
  }

  private void start() {
    ActorRef<RolloutWorker.Command> made =
        getContext().spawn(behavior, getContext().getSelf().path().name());
    getContext().watch(made);
    worker = Optional.of(made);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    return switch (signal) {
      case ChildFailed failed when failed.getCause() instanceof RestartOrdered -> {
        start();
        yield this;
      }
      case ChildFailed failed -> onFailed(failed.getCause());
      case Terminated _ -> Behaviors.stopped();
      default -> this;
    };
  }

  private Behavior<Command> onFailed(Throwable cause) {
    worker = Optional.empty();
    restarts = restarts.ended(System.nanoTime() / 1_000_000);
    String name = getContext().getSelf().path().name();
    if (givesUp && restarts.persistent()) {
      throw new IllegalStateException(
          "worker %s failed %d times, the last: %s"
              .formatted(name, restarts.endings().size(), FailureCause.message(cause)),
          cause);
    }
    Duration pause = Duration.ofMillis(restarts.pauseMillis());
    say.accept(
        "worker %s failed%s and is started again in %d s: %s"
            .formatted(
                name,
                restarts.persistent() ? " again and again" : "",
                pause.toSeconds(),
                FailureCause.message(cause)));
    timers.startSingleTimer(new StartAgain(), pause);
    return this;
  }
}
