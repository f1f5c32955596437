package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.Signal;
import akka.actor.typed.SupervisorStrategy;
import akka.actor.typed.Terminated;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.cluster.diagnostics.Diagnostics;
import io.troupe.cluster.membership.ServiceSubscription;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.Run;
import io.troupe.runtime.VerifierPool;
import io.troupe.runtime.WireMessage;
import io.troupe.runtime.WorkerSupervisor;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.verifiers.pool.VerifierService;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Runs one rollout worker in its JVM: it finds the node registry of the run, registers, and starts
 * the worker.
 *
 * <p>A worker belongs to one registry. After a takeover the host stops the worker and starts a new
 * one: the new coordinator may have resumed from an older checkpoint and reuse its version numbers,
 * and only an empty engine certainly holds no weights under such a number.
 */
public final class WorkerHost extends AbstractOnMessageBehavior<WorkerHost.Command> {
  /**
   * The name that it must be spawned under, so that Artery sends its worker's messages on the large
   * lane.
   */
  public static final String NAME = "rollout";

  /** The paths of its workers, each below its supervisor. */
  static final String WORKER_PATHS = "/user/" + NAME + "/*/*";

  public sealed interface Command {}

  /** The registry has accepted this worker. */
  public record Registered(ActorRef<NodeRegistry.Command> registry, Run.RunActors actors)
      implements Command, WireMessage {}

  /** The coordinator has given up this worker's leases. */
  public record Evicted() implements Command, WireMessage {}

  /** The run is over. */
  public record RunEnded() implements Command, WireMessage {}

  /** Finish the groups in flight, take no new lease, then stop. */
  public record Drain() implements Command {}

  private record RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) implements Command {}

  private record RegistrationDue() implements Command {}

  private static final Duration REGISTRATION_INTERVAL = Duration.ofSeconds(2);

  private final String name;
  private final Function<Run.RunActors, Behavior<RolloutWorker.Command>> makeWorker;
  private final TimerScheduler<Command> timers;
  private final Runnable onRunEnd;
  private Optional<ActorRef<NodeRegistry.Command>> registry = Optional.empty();
  private Optional<ActorRef<WorkerSupervisor.Command>> worker = Optional.empty();
  private boolean draining;
  private long registrations;

  /**
   * A host that looks for a registry until it is stopped.
   *
   * @param name name of the worker, such as {@code node1-gpu0}
   * @param makeWorker creates the worker for the actors of a run
   * @param onRunEnd called when the host is ordered to stop; a host that stops without this call
   *     has failed
   */
  public static Behavior<Command> create(
      String name,
      Function<Run.RunActors, Behavior<RolloutWorker.Command>> makeWorker,
      Runnable onRunEnd) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new WorkerHost(context, timers, name, makeWorker, onRunEnd)));
  }

  /**
   * The guardian of a worker's JVM, with a host, a verifier pool, and what samples for evaluations.
   * The actor system terminates with the host.
   *
   * @param probe answers questions about this process
   * @param evaluations samples for evaluations of other processes
   * @param makeWorker creates the worker for the actors of a run and the verifier pool
   * @param onRunEnd called when the host is ordered to stop
   */
  public static Behavior<Command> guardian(
      String name,
      VerifierService verifier,
      Diagnostics.Probe probe,
      Behavior<EvaluationSampler.Command> evaluations,
      BiFunction<Run.RunActors, ActorRef<VerifierPool.Command>, Behavior<RolloutWorker.Command>>
          makeWorker,
      Runnable onRunEnd) {
    return Behaviors.setup(
        context -> {
          ActorRef<VerifierPool.Command> verifiers =
              context.spawn(VerifierPool.create(verifier), "verifiers");
          context.spawn(Diagnostics.create(name, probe), Diagnostics.NAME);
          context.spawn(
              Behaviors.supervise(evaluations).onFailure(SupervisorStrategy.restart()),
              EvaluationSampler.NAME);
          ActorRef<Command> host =
              context.spawn(
                  create(name, actors -> makeWorker.apply(actors, verifiers), onRunEnd), NAME);
          context.watch(host);
          context.watch(verifiers); // Without the pool no completion of this process gets a reward.
          return Behaviors.receive(Command.class)
              .onAnyMessage(
                  command -> {
                    host.tell(command);
                    return Behaviors.same();
                  })
              .onSignal(Terminated.class, _ -> Behaviors.stopped())
              .build();
        });
  }

  private WorkerHost(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      String name,
      Function<Run.RunActors, Behavior<RolloutWorker.Command>> makeWorker,
      Runnable onRunEnd) {
    super(context);
    this.name = name;
    this.onRunEnd = onRunEnd;
    this.makeWorker = makeWorker;
    this.timers = timers;
    ServiceSubscription.start(context, NodeRegistry.SERVICE_KEY, RegistriesFound::new);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) -> onRegistriesFound(found);
      case RegistrationDue _ -> onRegistrationDue();
      case Registered(ActorRef<NodeRegistry.Command> sender, Run.RunActors actors) ->
          onRegistered(sender, actors);
      case Evicted _ -> onEvicted();
      case Drain _ -> onDrain();
      case RunEnded _ -> onRunEnded();
    };
  }

  private Behavior<Command> onRegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) {
    // An empty listing means that the coordinator is not visible at present: the worker continues.
    Optional<ActorRef<NodeRegistry.Command>> other =
        found.stream().filter(one -> !registry.equals(Optional.of(one))).findFirst();
    if (other.isEmpty()) {
      return this;
    }
    registry = other;
    stopWorker();
    if (draining) {
      return Behaviors.stopped(); // The new coordinator refuses this worker's groups.
    }
    register();
    return this;
  }

  private void register() {
    registry
        .orElseThrow()
        .tell(
            new NodeRegistry.RegisterWorker(
                name, ProcessHandle.current().pid(), getContext().getSelf()));
    timers.startSingleTimer(new RegistrationDue(), REGISTRATION_INTERVAL);
  }

  private Behavior<Command> onRegistrationDue() {
    if (worker.isEmpty() && !draining) {
      register();
    }
    return this;
  }

  private Behavior<Command> onRegistered(
      ActorRef<NodeRegistry.Command> sender, Run.RunActors actors) {
    if (worker.isEmpty() && !draining && registry.equals(Optional.of(sender))) {
      registrations++;
      ActorRef<WorkerSupervisor.Command> started =
          getContext()
              .spawn(
                  WorkerSupervisor.failingFast(makeWorker.apply(actors)),
                  name + "-" + registrations);
      getContext().watch(started);
      worker = Optional.of(started);
    }
    return this;
  }

  private Behavior<Command> onEvicted() {
    stopWorker();
    if (draining) {
      return Behaviors.stopped();
    }
    register();
    return this;
  }

  /** Stops the worker. The engine registry closes its engine. */
  private void stopWorker() {
    worker.ifPresent(
        one -> {
          getContext().unwatch(one);
          getContext().stop(one);
        });
    worker = Optional.empty();
  }

  private Behavior<Command> onRunEnded() {
    onRunEnd.run();
    return Behaviors.stopped();
  }

  private Behavior<Command> onDrain() {
    onRunEnd.run();
    draining = true;
    if (worker.isEmpty()) {
      return Behaviors.stopped();
    }
    worker.orElseThrow().tell(new WorkerSupervisor.Drain());
    return this;
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    // A worker stops when it has drained or when its engine has failed too often. The process ends
    // with it, and the node agent decides whether to start another.
    return signal instanceof Terminated ? Behaviors.stopped() : this;
  }
}
