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
import java.util.function.Consumer;

/**
 * Keeps a JVM that is the head of a run, or waits to become it: one process at a time has the seat,
 * which the cluster's singleton gives, and only that one opens the run's journal.
 */
public final class CoordinatorGuardian
    extends AbstractOnMessageBehavior<CoordinatorGuardian.Command> {
  public sealed interface Command {}

  /** Start the run: this process has the seat, and everything is open. */
  public record StartRun(
      Behavior<Run.Command> run,
      RunDescriptor descriptor,
      WeightDistribution distribution,
      NodeTable nodeTable,
      Consumer<String> notes)
      implements Command {}

  /** The run has opened its posts. */
  public record RunActorsReady(Run.RunActors actors) implements Command {}

  private record Forward(Run.Command command) implements Command {}

  /** What stands on the seat; the cluster starts it in one process at a time. */
  private enum Leadership {
    RELEASE
  }

  private static final String HOUSE = "house";
  private static final String RUN = "run";

  /** Where an actor of the run is, by its name. */
  static String path(String actor) {
    return "/user/%s/%s/%s".formatted(HOUSE, RUN, actor);
  }

  private Optional<StartRun> request = Optional.empty();
  private Optional<ActorRef<Run.Command>> run = Optional.empty();
  private Optional<ActorRef<NodeRegistry.Command>> registry = Optional.empty();

  /**
   * The guardian of a process that waits for the seat; what it is told, the run is told.
   *
   * @param seated called, on an actor's thread, when this process has the seat
   * @param opened takes the house
   */
  public static Behavior<Run.Command> guardian(
      ClusterIdentity pass, Runnable seated, Consumer<ActorRef<Command>> opened) {
    return Behaviors.setup(
        context -> {
          context.spawn(JoinGate.create(pass), JoinGate.NAME);
          ActorRef<Command> house = context.spawn(create(seated), HOUSE);
          context.watch(house);
          opened.accept(house);
          return Behaviors.receive(Run.Command.class)
              .onAnyMessage(
                  command -> {
                    house.tell(new Forward(command));
                    return Behaviors.same();
                  })
              .onSignal(Terminated.class, _ -> Behaviors.stopped())
              .build();
        });
  }

  private static Behavior<Command> create(Runnable seated) {
    return Behaviors.setup(
        context -> {
          ClusterSingleton.get(context.getSystem())
              .init(
                  SingletonActor.of(leadership(seated), "head")
                      .withStopMessage(Leadership.RELEASE));
          return new CoordinatorGuardian(context);
        });
  }

  private static Behavior<Leadership> leadership(Runnable seated) {
    return Behaviors.setup(
        _ -> {
          seated.run();
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
      case StartRun begin -> onStartRun(begin);
      case RunActorsReady(Run.RunActors posts) -> onRunActorsReady(posts);
      case Forward(Run.Command order) -> run.orElseThrow().tell(order);
    }
    return this;
  }

  private void onStartRun(StartRun begin) {
    request = Optional.of(begin);
    ActorRef<Run.Command> started = getContext().spawn(begin.run(), RUN);
    getContext().watch(started);
    run = Optional.of(started);
  }

  private void onRunActorsReady(Run.RunActors posts) {
    StartRun begin = request.orElseThrow();
    ActorRef<NodeRegistry.Command> opened =
        getContext()
            .spawn(
                NodeRegistry.create(
                    begin.descriptor(),
                    posts,
                    begin.distribution(),
                    begin.nodeTable(),
                    begin.notes()),
                "desk");
    getContext().watch(opened);
    registry = Optional.of(opened);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof ChildFailed || registry.isEmpty()) {
      return Behaviors.stopped(); // Others may take over.
    }
    if (signal instanceof Terminated ended && ended.getRef().path().name().equals(RUN)) {
      registry.orElseThrow().tell(new NodeRegistry.Close());
      return this;
    }
    return signal instanceof Terminated ? Behaviors.stopped() : this;
  }
}
