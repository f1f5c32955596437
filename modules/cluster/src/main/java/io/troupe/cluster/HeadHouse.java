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
import io.troupe.runtime.Run;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Keeps a JVM that is the head of a run, or waits to become it: one process at a time has the seat,
 * which the cluster's singleton gives, and only that one opens the run's journal.
 */
public final class HeadHouse extends AbstractOnMessageBehavior<HeadHouse.Command> {
  public sealed interface Command {}

  /** Start the run: this process has the seat, and everything is open. */
  public record Begin(
      Behavior<Run.Command> run,
      Terms terms,
      Deliveries deliveries,
      Roster roster,
      Consumer<String> notes)
      implements Command {}

  /** The run has opened its posts. */
  public record Posted(Run.Posts posts) implements Command {}

  private record Tell(Run.Command command) implements Command {}

  /** What stands on the seat; the cluster starts it in one process at a time. */
  private enum Seat {
    LEAVE
  }

  private static final String HOUSE = "house";
  private static final String RUN = "run";

  /** Where an actor of the run is, by its name. */
  static String path(String actor) {
    return "/user/%s/%s/%s".formatted(HOUSE, RUN, actor);
  }

  private Optional<Begin> begun = Optional.empty();
  private Optional<ActorRef<Run.Command>> run = Optional.empty();
  private Optional<ActorRef<Desk.Command>> desk = Optional.empty();

  /**
   * The guardian of a process that waits for the seat; what it is told, the run is told.
   *
   * @param seated called, on an actor's thread, when this process has the seat
   * @param opened takes the house
   */
  public static Behavior<Run.Command> guardian(
      Pass pass, Runnable seated, Consumer<ActorRef<Command>> opened) {
    return Behaviors.setup(
        context -> {
          context.spawn(Gate.create(pass), Gate.NAME);
          ActorRef<Command> house = context.spawn(create(seated), HOUSE);
          context.watch(house);
          opened.accept(house);
          return Behaviors.receive(Run.Command.class)
              .onAnyMessage(
                  command -> {
                    house.tell(new Tell(command));
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
              .init(SingletonActor.of(seat(seated), "head").withStopMessage(Seat.LEAVE));
          return new HeadHouse(context);
        });
  }

  private static Behavior<Seat> seat(Runnable seated) {
    return Behaviors.setup(
        _ -> {
          seated.run();
          return Behaviors.receive(Seat.class)
              .onMessageEquals(Seat.LEAVE, Behaviors::stopped)
              .build();
        });
  }

  private HeadHouse(ActorContext<Command> context) {
    super(context);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Begin begin -> onBegin(begin);
      case Posted(Run.Posts posts) -> onPosted(posts);
      case Tell(Run.Command order) -> run.orElseThrow().tell(order);
    }
    return this;
  }

  private void onBegin(Begin begin) {
    begun = Optional.of(begin);
    ActorRef<Run.Command> started = getContext().spawn(begin.run(), RUN);
    getContext().watch(started);
    run = Optional.of(started);
  }

  private void onPosted(Run.Posts posts) {
    Begin begin = begun.orElseThrow();
    ActorRef<Desk.Command> opened =
        getContext()
            .spawn(
                Desk.create(
                    begin.terms(), posts, begin.deliveries(), begin.roster(), begin.notes()),
                "desk");
    getContext().watch(opened);
    desk = Optional.of(opened);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof ChildFailed || desk.isEmpty()) {
      return Behaviors.stopped(); // Others may take over.
    }
    if (signal instanceof Terminated ended && ended.getRef().path().name().equals(RUN)) {
      desk.orElseThrow().tell(new Desk.Close());
      return this;
    }
    return signal instanceof Terminated ? Behaviors.stopped() : this;
  }
}
