package io.troupe.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import akka.actor.typed.receptionist.Receptionist;
import io.troupe.base.failure.Causes;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.placement.Share;
import io.troupe.cluster.weights.Fetched;
import io.troupe.cluster.weights.WeightRef;
import io.troupe.runtime.Portable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The guardian of a node: asks the desk of a run what there is to do, starts the processes that do
 * it, starts them again when they end early, and reports what it gives up.
 *
 * <p>It works for one run at a time and waits for the next when that is over.
 */
public final class NodeAgent extends AbstractOnMessageBehavior<NodeAgent.Command> {
  public sealed interface Command {}

  /** There is a run to work for. */
  public record Offered(Terms terms, Share share, ActorRef<Desk.Command> desk)
      implements Command, Portable {}

  /** The run is over. */
  public record RunOver(String run) implements Command, Portable {}

  /**
   * End a process that does not answer, if that is this node's name and the process has the pid.
   */
  public record EndChild(String node, String child, long pid) implements Command, Portable {}

  /** Drain this node, if that is its name. */
  public record Drain(String node, ActorRef<Gate.Answer> replyTo) implements Command, Portable {}

  /** Drain this node. */
  public record Leave() implements Command {}

  private record Desks(Set<ActorRef<Desk.Command>> found) implements Command {}

  private record DeskGone(ActorRef<Desk.Command> gone) implements Command {}

  private record AskAgain() implements Command {}

  private record CrewReady(int of, Muster muster) implements Command {}

  private record Arrived(WeightRef weights, Fetched outcome) implements Command {}

  private record CrewRefused(int of, String reason) implements Command {}

  private record Ended(ChildSpec child, Children.Exit exit) implements Command {}

  private record NotStarted(ChildSpec child, String reason) implements Command {}

  private record StartAgain(ChildSpec child) implements Command {}

  private record TimeIsUp() implements Command {}

  private record ReleasedTimeIsUp() implements Command {}

  /** Which processes a run needs on this node. */
  public interface Crew {
    /**
     * Makes everything ready for them; may block.
     *
     * @param share of this node in the run's placement
     * @param arrivals told how each transfer of weights to this node ended
     * @throws IOException if this node cannot work for the run; says why and what to do
     */
    Muster of(Terms terms, Share share, BiConsumer<WeightRef, Fetched> arrivals) throws IOException;

    /** Lets go of what the run had here beside its processes; may block. */
    void over();
  }

  /**
   * What a run gets from a node.
   *
   * @param children to start
   * @param weights where its weight server listens; none if it has none
   * @param ranks names of those children that report to the head wherever it is
   * @param heads names of those that are the head, or wait to become it, whatever seat the node has
   */
  public record Muster(
      List<ChildSpec> children, Optional<HostPort> weights, Set<String> ranks, Set<String> heads) {
    public Muster {
      children = List.copyOf(children);
      ranks = Set.copyOf(ranks);
      heads = Set.copyOf(heads);
    }
  }

  /**
   * Everything a node agent works with.
   *
   * @param name of the node, unique in the cluster
   * @param known takes whom it meets in the cluster
   * @param eyes answer for this process and its machine
   * @param say takes a sentence for the node's operator
   * @param left called when the node has drained and leaves
   */
  public record Wiring(
      String name,
      Pass pass,
      KnownMembers known,
      Crew crew,
      Children children,
      LongSupplier millis,
      Duration drainTimeout,
      Lookout.Eyes eyes,
      Consumer<String> say,
      Runnable left) {}

  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** Between a spare's questions: a seat that was offered and lost on the way is offered again. */
  private static final Duration SPARE_PATIENCE = Duration.ofSeconds(10);

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private ChildBook book = ChildBook.EMPTY;
  private Optional<ActorRef<Desk.Command>> desk = Optional.empty();
  private Optional<String> run = Optional.empty();
  private Optional<HostPort> weights = Optional.empty();
  private Set<String> ranks = Set.of();
  private Set<String> heads = Set.of();
  private Optional<Terms> vacated = Optional.empty();
  private String hall = "";
  private int seat = Share.OWN.seat();
  private boolean leaving;

  /** An agent that looks for work until it is drained. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new NodeAgent(context, timers, wiring)));
  }

  private NodeAgent(ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.wiring = wiring;
    this.timers = timers;
    context.spawn(Gate.create(wiring.pass()), Gate.NAME);
    context.spawn(Acquaintances.create(wiring.known()), "acquaintances");
    context.spawn(Lookout.create(wiring.name(), wiring.eyes()), Lookout.NAME);
    ActorRef<Receptionist.Listing> listings =
        context.messageAdapter(
            Receptionist.Listing.class,
            listing -> new Desks(listing.getServiceInstances(Desk.KEY)));
    context.getSystem().receptionist().tell(Receptionist.subscribe(Desk.KEY, listings));
    context.getSystem().receptionist().tell(Receptionist.register(Gate.AGENTS, context.getSelf()));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Desks(Set<ActorRef<Desk.Command>> found) -> onDesks(found);
      case DeskGone(ActorRef<Desk.Command> gone) -> onDeskGone(gone);
      case AskAgain _ -> ask();
      case Offered(Terms terms, Share share, ActorRef<Desk.Command> from) ->
          onOffered(terms, share, from);
      case CrewReady(int of, Muster muster) -> onCrewReady(of, muster);
      case Arrived(WeightRef came, Fetched outcome) -> onArrived(came, outcome);
      case CrewRefused(int of, String reason) -> onCrewRefused(of, reason);
      case Ended(ChildSpec child, Children.Exit exit) -> {
        desk.ifPresent(one -> one.tell(new Desk.ChildEnded(child.name(), exit.pid())));
        onEnded(child, exit.code());
      }
      case NotStarted(ChildSpec child, String reason) -> {
        report(reason);
        onEnded(child, -1);
      }
      case StartAgain(ChildSpec child) -> onStartAgain(child);
      case RunOver(String over) -> onRunOver(over);
      case EndChild(String node, String child, long pid) -> onEndChild(node, child, pid);
      case Drain(String node, ActorRef<Gate.Answer> replyTo) -> onDrain(node, replyTo);
      case Leave _ -> onLeave();
      case TimeIsUp _ -> wiring.children().killAll();
      case ReleasedTimeIsUp _ -> book.released().forEach(wiring.children()::kill);
    }
    if (leaving && book.alive().isEmpty()) {
      wiring.left().run();
      return Behaviors.stopped();
    }
    return this;
  }

  private void onDesks(Set<ActorRef<Desk.Command>> found) {
    Optional<ActorRef<Desk.Command>> other =
        found.stream().filter(one -> !desk.equals(Optional.of(one))).findFirst();
    if (other.isPresent() && !leaving) {
      desk.ifPresent(getContext()::unwatch);
      desk = other;
      getContext().watchWith(other.get(), new DeskGone(other.get()));
      ask();
    }
  }

  /** Its run is over, or its host is gone: nobody is asked until there is another one. */
  private void onDeskGone(ActorRef<Desk.Command> gone) {
    if (desk.equals(Optional.of(gone))) {
      desk = Optional.empty();
      timers.cancel(new AskAgain());
    }
  }

  private void ask() {
    desk.ifPresent(
        one -> {
          one.tell(new Desk.AskTerms(wiring.name(), run.orElse(""), seat, getContext().getSelf()));
          timers.startSingleTimer(new AskAgain(), PATIENCE);
        });
  }

  private void onOffered(Terms terms, Share share, ActorRef<Desk.Command> from) {
    if (!desk.equals(Optional.of(from))) {
      return; // Of a head that another one has followed.
    }
    timers.cancel(new AskAgain());
    if (share.placed() && !share.seated()) {
      timers.startSingleTimer(new AskAgain(), SPARE_PATIENCE);
    }
    if (run.equals(Optional.of(terms.run()))) {
      onOfferedAgain(terms, share);
      return;
    }
    if (leaving || !book.alive().isEmpty()) {
      return; // What is left of the last run ends first; then it is asked again.
    }
    timers.cancel(new TimeIsUp());
    weights = Optional.empty();
    ranks = Set.of();
    heads = Set.of();
    hall = terms.ranks();
    run = Optional.of(terms.run());
    book = ChildBook.EMPTY;
    wiring
        .say()
        .accept("works for %s, whose head is at %s".formatted(terms.run(), from.path().address()));
    take(terms, share);
  }

  /** A new head of the same run, whom the workers find by themselves; or another seat. */
  private void onOfferedAgain(Terms terms, Share share) {
    hall = terms.ranks();
    ranks.stream().filter(book.alive()::containsKey).forEach(this::sendToHead);
    serve();
    if (leaving || vacated.isPresent() || !share.placed()) {
      return;
    }
    if (share.seated() && seat == Share.NOTHING.seat()) {
      wiring.say().accept("was spare, and is now " + share.text());
      take(terms, share);
    } else if (!share.seated() && seat >= 0) {
      vacate(terms);
    }
  }

  /** Another node has the seat by now: this one ends what it does there, and is a spare. */
  private void vacate(Terms terms) {
    report("another one is node %d of the placement now; this one becomes spare".formatted(seat));
    seat = Share.NOTHING.seat();
    vacated = Optional.of(terms);
    book.endings().keySet().stream().filter(name -> !heads.contains(name)).forEach(timers::cancel);
    book = book.release(heads);
    if (book.released().isEmpty()) {
      onCleared();
      return;
    }
    book.released().forEach(wiring.children()::drain);
    timers.startSingleTimer(new ReleasedTimeIsUp(), wiring.drainTimeout());
  }

  private void onCleared() {
    timers.cancel(new ReleasedTimeIsUp());
    vacated.ifPresent(terms -> take(terms, Share.NOTHING));
    vacated = Optional.empty();
    ask();
  }

  private void take(Terms terms, Share share) {
    seat = share.seat();
    ActorRef<Command> self = getContext().getSelf();
    getContext()
        .pipeToSelf(
            wiring.children().call(() -> crew(terms, share, self)),
            (crew, failure) ->
                failure == null
                    ? new CrewReady(share.seat(), crew)
                    : new CrewRefused(share.seat(), message(failure)));
  }

  private void onCrewReady(int of, Muster muster) {
    if (of != seat) {
      return; // It has been given another seat since, or lost this one.
    }
    weights = muster.weights();
    ranks = muster.ranks();
    heads = muster.heads();
    serve(); // Before the first worker asks for any.
    ChildBook.Mustered mustered = book.mustered(muster.children());
    book = mustered.book();
    mustered.starts().forEach(this::start);
    mustered.outdated().forEach(wiring.children()::drain); // One that is the head goes on.
  }

  private void onCrewRefused(int of, String reason) {
    report(reason);
    if (of == seat && of >= 0) {
      seat = Share.NOTHING.seat();
      desk.ifPresent(one -> one.tell(new Desk.Unfit(wiring.name(), run.orElse(""), of)));
      timers.startSingleTimer(new AskAgain(), SPARE_PATIENCE);
    }
  }

  private void serve() {
    weights.ifPresent(
        server ->
            desk.ifPresent(one -> one.tell(new Desk.Serves(wiring.name(), server.toString()))));
  }

  private void onArrived(WeightRef came, Fetched outcome) {
    switch (outcome) {
      case Fetched.Ready(var _, var report) -> tell(came, report, "");
      case Fetched.Failed(String reason, var report) -> tell(came, report, reason);
      case Fetched.Overtaken _ -> {}
    }
  }

  private void tell(WeightRef came, Fetched.Report report, String failure) {
    Desk.Brought brought =
        new Desk.Brought(
            wiring.name(),
            came.version().number(),
            came.digest(),
            report.fetched(),
            report.reused(),
            report.took().toMillis(),
            report.troubles().stream()
                .map(
                    one ->
                        new Desk.Brought.Left(
                            HostPort.of(one.source()).toString(), one.reason(), one.faulty()))
                .toList(),
            failure);
    desk.ifPresent(one -> one.tell(brought));
  }

  private Muster crew(Terms terms, Share share, ActorRef<Command> self) {
    try {
      return wiring
          .crew()
          .of(terms, share, (came, outcome) -> self.tell(new Arrived(came, outcome)));
    } catch (IOException unfit) {
      throw new UncheckedIOException(unfit);
    }
  }

  private void start(ChildSpec child) {
    if (leaving || run.isEmpty()) {
      return;
    }
    book = book.started(child);
    getContext()
        .pipeToSelf(
            wiring.children().start(child),
            (exit, failure) ->
                failure == null ? new Ended(child, exit) : new NotStarted(child, message(failure)));
    if (ranks.contains(child.name())) {
      sendToHead(child.name());
    }
  }

  /** A rank of a head that is gone waits to hear of the next one. */
  private void sendToHead(String rank) {
    wiring.children().tell(rank, Children.HEAD + hall);
  }

  private void onEndChild(String node, String child, long pid) {
    if (node.equals(wiring.name())) {
      report("%s (process %d) does not answer, and is ended".formatted(child, pid));
      wiring.children().kill(child, pid);
    }
  }

  private void onEnded(ChildSpec child, int exit) {
    ChildBook.Ended ended = book.ended(child.name(), exit, wiring.millis().getAsLong());
    book = ended.book();
    if (book.alive().isEmpty() && run.isEmpty() && !leaving) {
      ask();
    }
    if (leaving || run.isEmpty()) {
      return; // It was told to.
    }
    switch (ended.fate()) {
      case ChildBook.Fate.Over() -> {}
      case ChildBook.Fate.Cleared() -> onCleared();
      case ChildBook.Fate.Replaced(ChildSpec by) -> start(by);
      case ChildBook.Fate.Again(long millis) -> {
        reportEnd(child, exit, "it is started again in %d ms".formatted(millis));
        startLater(child, millis);
      }
      case ChildBook.Fate.Resting(int ends, long millis) -> {
        reportEnd(
            child,
            exit,
            "that was %d times in a row, and it is started again in %d min"
                .formatted(ends, Duration.ofMillis(millis).toMinutes()));
        startLater(child, millis);
        if (book.allRest()) {
          report(
              "no process of this node runs: all %d ended too often, and each is started again after"
                      .formatted(book.endings().size())
                  + " a pause; their logs say why");
        }
      }
    }
  }

  private void startLater(ChildSpec child, long millis) {
    timers.startSingleTimer(child.name(), new StartAgain(child), Duration.ofMillis(millis));
  }

  private void reportEnd(ChildSpec child, int exit, String then) {
    report("%s ended with code %d; %s (log: %s)".formatted(child.name(), exit, then, child.log()));
  }

  private void onStartAgain(ChildSpec child) {
    if (!book.alive().containsKey(child.name())) {
      start(child);
    }
  }

  private void onRunOver(String over) {
    if (run.equals(Optional.of(over))) {
      wiring.say().accept(over + " is over");
      run = Optional.empty();
      weights = Optional.empty();
      seat = Share.OWN.seat();
      vacated = Optional.empty();
      var _ = wiring.children().call(this::letGo);
      book.endings().keySet().forEach(timers::cancel);
      book = book.over();
      book.alive().keySet().forEach(wiring.children()::drain);
      timers.startSingleTimer(new TimeIsUp(), wiring.drainTimeout());
    }
  }

  private boolean letGo() {
    wiring.crew().over();
    return true;
  }

  private void onDrain(String node, ActorRef<Gate.Answer> replyTo) {
    if (node.equals(wiring.name())) {
      replyTo.tell(
          new Gate.Welcome(
              "node %s drains: %d processes finish what they have begun, then it leaves"
                  .formatted(node, book.alive().size())));
      onLeave();
    }
  }

  private void onLeave() {
    if (!leaving) {
      leaving = true;
      wiring.say().accept("drains: groups in flight may finish, then it leaves");
      book.alive().keySet().forEach(wiring.children()::drain);
      timers.startSingleTimer(new TimeIsUp(), wiring.drainTimeout());
    }
  }

  /** Tells the operator here, and the one of the run. */
  private void report(String sentence) {
    wiring.say().accept(sentence);
    desk.ifPresent(
        one -> one.tell(new Desk.Report("node %s: %s".formatted(wiring.name(), sentence))));
  }

  private static String message(Throwable failure) {
    return String.valueOf(Causes.inside(failure, List.of(UncheckedIOException.class)).getMessage());
  }
}
