package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.Signal;
import akka.actor.typed.Terminated;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import akka.actor.typed.receptionist.Receptionist;
import io.troupe.cluster.diagnostics.Diagnostics;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.Run;
import io.troupe.runtime.VerifierPool;
import io.troupe.runtime.WireMessage;
import io.troupe.runtime.WorkerSupervisor;
import io.troupe.verifiers.pool.VerifierService;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * The only tenant of a worker's JVM: it finds the desk of the run, enlists, and keeps one rollout
 * worker at work for it.
 *
 * <p>A worker belongs to one desk. When another one takes over, the worker is stopped and a new one
 * enlists: the new head may have gone back to older weights of the same version numbers, and only
 * an empty engine is sure to hold none of them.
 */
public final class WorkerHost extends AbstractOnMessageBehavior<WorkerHost.Command> {
  /** The name it must be spawned under, so that what its worker gets goes on the large lane. */
  public static final String NAME = "rollout";

  /** Where its workers are: each below its supervisor. */
  static final String WORKER_PATHS = "/user/" + NAME + "/*/*";

  public sealed interface Command {}

  /** A desk takes this worker on. */
  public record Registered(ActorRef<NodeRegistry.Command> registry, Run.RunActors actors)
      implements Command, WireMessage {}

  /** The desk has given this worker's leases to others. */
  public record Evicted() implements Command, WireMessage {}

  /** There is nothing left to do. */
  public record RunEnded() implements Command, WireMessage {}

  /** Finish what is begun, take nothing new, then end. */
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
   * A host that looks for a desk until it is stopped.
   *
   * @param name of the worker, such as {@code node1-gpu0}
   * @param makeWorker the worker, once it is known for whom
   * @param told called when it is told to end; a host that ends without was lost
   */
  public static Behavior<Command> create(
      String name,
      Function<Run.RunActors, Behavior<RolloutWorker.Command>> makeWorker,
      Runnable told) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new WorkerHost(context, timers, name, makeWorker, told)));
  }

  /**
   * The guardian of a worker's JVM: a host, and the pool of verifiers beside it. The system ends
   * with the host.
   *
   * @param eyes answer for this process
   * @param makeWorker the worker, once it is known for whom, and who judges what it draws
   * @param told called when it is told to end
   */
  public static Behavior<Command> guardian(
      String name,
      VerifierService verifier,
      Diagnostics.Probe eyes,
      BiFunction<Run.RunActors, ActorRef<VerifierPool.Command>, Behavior<RolloutWorker.Command>>
          makeWorker,
      Runnable told) {
    return Behaviors.setup(
        context -> {
          ActorRef<VerifierPool.Command> verifiers =
              context.spawn(VerifierPool.create(verifier), "verifiers");
          context.spawn(Diagnostics.create(name, eyes), Diagnostics.NAME);
          ActorRef<Command> host =
              context.spawn(create(name, posts -> makeWorker.apply(posts, verifiers), told), NAME);
          context.watch(host);
          context.watch(verifiers); // Without it no group of this process is ever judged.
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
      Runnable told) {
    super(context);
    this.name = name;
    this.onRunEnd = told;
    this.makeWorker = makeWorker;
    this.timers = timers;
    ActorRef<Receptionist.Listing> listings =
        context.messageAdapter(
            Receptionist.Listing.class,
            listing -> new RegistriesFound(listing.getServiceInstances(NodeRegistry.SERVICE_KEY)));
    context
        .getSystem()
        .receptionist()
        .tell(Receptionist.subscribe(NodeRegistry.SERVICE_KEY, listings));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case RegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) -> onRegistriesFound(found);
      case RegistrationDue _ -> onRegistrationDue();
      case Registered(ActorRef<NodeRegistry.Command> by, Run.RunActors posts) ->
          onRegistered(by, posts);
      case Evicted _ -> onEvicted();
      case Drain _ -> onDrain();
      case RunEnded _ -> onRunEnded();
    };
  }

  private Behavior<Command> onRegistriesFound(Set<ActorRef<NodeRegistry.Command>> found) {
    // An empty listing means that the head is out of sight for the moment: work goes on.
    Optional<ActorRef<NodeRegistry.Command>> other =
        found.stream().filter(one -> !registry.equals(Optional.of(one))).findFirst();
    if (other.isEmpty()) {
      return this;
    }
    registry = other;
    stopWorker();
    if (draining) {
      return Behaviors.stopped(); // To the new head, what this worker had begun is void.
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

  private Behavior<Command> onRegistered(ActorRef<NodeRegistry.Command> by, Run.RunActors posts) {
    if (worker.isEmpty() && !draining && registry.equals(Optional.of(by))) {
      registrations++;
      ActorRef<WorkerSupervisor.Command> made =
          getContext()
              .spawn(
                  WorkerSupervisor.failingFast(makeWorker.apply(posts)),
                  name + "-" + registrations);
      getContext().watch(made);
      worker = Optional.of(made);
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

  /** Stops the worker; its engine is closed by the room. */
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
    // A worker ends when it is drained, or when its engine failed too often: the process ends with
    // it either way, and the node decides whether to start another.
    return signal instanceof Terminated ? Behaviors.stopped() : this;
  }
}
