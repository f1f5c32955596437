package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.ChildFailed;
import akka.actor.typed.Signal;
import akka.actor.typed.Terminated;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.cluster.typed.ClusterSingleton;
import akka.cluster.typed.SingletonActor;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.runtime.Run;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The guardian of a JVM that coordinates a run or waits to do so. The cluster's singleton gives the
 * leadership to one process at a time, and only that process opens the run's journal.
 */
public final class CoordinatorGuardian
    extends AbstractOnMessageBehavior<CoordinatorGuardian.Command> {
  public sealed interface Command {}

  /**
   * Start the run: this process has the leadership and has opened journal, engines and weights.
   *
   * @param complete whether the run is complete, asked once it has ended
   */
  public record StartRun(
      Behavior<Run.Command> run,
      RunDescriptor descriptor,
      WeightDistribution distribution,
      NodeTable nodeTable,
      BooleanSupplier complete,
      Consumer<String> notes)
      implements Command {}

  /** The run has started its actors. */
  public record RunActorsReady(Run.RunActors actors) implements Command {}

  /** The message of the singleton actor, which runs in one process at a time. */
  private enum Leadership {
    RELEASE
  }

  /** The name of the actor that starts the run. */
  static final String NAME = "coordination";

  private static final String LEADERSHIP = "leadership";
  private static final String RUN = "run";

  /** The path of the run's actor of this name. */
  static String path(String actor) {
    return "/user/%s/%s/%s".formatted(NAME, RUN, actor);
  }

  private Optional<StartRun> request = Optional.empty();
  private Optional<ActorRef<NodeRegistry.Command>> registry = Optional.empty();

  /**
   * The root actor of a process that waits for the leadership.
   *
   * @param onLeadership called, on an actor's thread, when this process gets the leadership
   * @param onReady receives the actor that starts the run
   */
  public static Behavior<Void> guardian(
      ClusterIdentity identity, Runnable onLeadership, Consumer<ActorRef<Command>> onReady) {
    return Behaviors.setup(
        context -> {
          context.spawn(JoinGate.create(identity), JoinGate.NAME);
          ActorRef<Command> coordination = context.spawn(create(onLeadership), NAME);
          context.watch(coordination);
          onReady.accept(coordination);
          return Behaviors.receive(Void.class)
              .onSignal(Terminated.class, _ -> Behaviors.stopped())
              .build();
        });
  }

  private static Behavior<Command> create(Runnable onLeadership) {
    return Behaviors.setup(
        context -> {
          ClusterSingleton.get(context.getSystem())
              .init(
                  SingletonActor.of(leadership(onLeadership), LEADERSHIP)
                      .withStopMessage(Leadership.RELEASE));
          return new CoordinatorGuardian(context);
        });
  }

  private static Behavior<Leadership> leadership(Runnable onLeadership) {
    return Behaviors.setup(
        _ -> {
          onLeadership.run();
          return Behaviors.receive(Leadership.class)
              .onMessageEquals(Leadership.RELEASE, Behaviors::stopped)
              .build();
        });
  }

  private CoordinatorGuardian(ActorContext<Command> context) {
    super(context);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case StartRun start -> onStartRun(start);
      case RunActorsReady(Run.RunActors actors) -> onRunActorsReady(actors);
    }
    return this;
  }

  private void onStartRun(StartRun start) {
    request = Optional.of(start);
    ActorRef<Run.Command> started = getContext().spawn(start.run(), RUN);
    getContext().watch(started);
  }

  private void onRunActorsReady(Run.RunActors actors) {
    StartRun start = request.orElseThrow();
    ActorRef<NodeRegistry.Command> opened =
        getContext()
            .spawn(
                NodeRegistry.create(
                    start.descriptor(),
                    actors,
                    start.distribution(),
                    start.nodeTable(),
                    start.notes()),
                NodeRegistry.NAME);
    getContext().watch(opened);
    registry = Optional.of(opened);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof ChildFailed || registry.isEmpty()) {
      return Behaviors.stopped(); // Others may take over.
    }
    if (signal instanceof Terminated ended && ended.getRef().path().name().equals(RUN)) {
      boolean complete = request.orElseThrow().complete().getAsBoolean();
      registry.orElseThrow().tell(new NodeRegistry.Close(complete));
      return this;
    }
    return signal instanceof Terminated ? Behaviors.stopped() : this;
  }
}
