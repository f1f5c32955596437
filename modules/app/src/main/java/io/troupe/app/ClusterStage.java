package io.troupe.app;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import com.typesafe.config.Config;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.Announcements;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.Deliveries;
import io.troupe.cluster.HeadHouse;
import io.troupe.cluster.Joining;
import io.troupe.cluster.Joining.CannotJoinException;
import io.troupe.cluster.Pass;
import io.troupe.cluster.Roster;
import io.troupe.cluster.Seeds;
import io.troupe.cluster.Terms;
import io.troupe.cluster.placement.Share;
import io.troupe.cluster.ranks.RankHall;
import io.troupe.console.NodeFacts;
import io.troupe.runtime.Run;
import io.troupe.runtime.WeightOutlet;
import io.troupe.runtime.WeightSource;
import io.troupe.runtime.WeightsInMemory;
import io.troupe.store.RunLease;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The head of a run over many JVMs, or a process that waits to become it: the cluster gives the
 * seat to one process at a time, and to another one when that is gone.
 */
final class ClusterStage implements Stage {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** How long a head that has given up its seat may take to end. */
  private static final Duration HAND_OVER = Duration.ofSeconds(60);

  /** How long GPUs of a head that has just ended may still look used. */
  private static final Duration RELEASE = Duration.ofSeconds(20);

  private static final long LOOK_AGAIN_MILLIS = 250;

  /** Takes what a head computes on; blocks. */
  @FunctionalInterface
  interface Claim {
    /**
     * Takes it.
     *
     * @throws IOException if somebody else uses it, with who is in the way
     */
    HeadGpus.Own take() throws IOException;
  }

  private final ClusterSettings settings;
  private final UnaryOperator<Config> measured;
  private final List<String> own;
  private final List<HostPort> seeds;
  private final Pass pass;
  private final Terms terms;
  private final RunLease lease;
  private final HeadWeights weights;
  private final HeadHall hall;
  private final Claim claim;
  private final Roster roster;
  private final boolean inherits;
  private final Optional<WeightsInMemory> driven;
  private final Consumer<String> say;
  private final AtomicBoolean left = new AtomicBoolean();
  private volatile List<String> gpus = List.of();
  private final CompletableFuture<Boolean> seated = new CompletableFuture<>();
  private final CompletableFuture<ActorSystem<Run.Command>> started = new CompletableFuture<>();
  private final CompletableFuture<ActorSystem<Run.Command>> begun = new CompletableFuture<>();
  private final CompletableFuture<ActorRef<HeadHouse.Command>> house = new CompletableFuture<>();

  /**
   * A stage that has not touched anything yet.
   *
   * @param measured adds to the actor system's settings that its actors are measured
   * @param own options of a head on this host, without seeds
   * @param seeds none begins a cluster
   * @param lease of the run; the stage gives it up when its actors are gone
   * @param hall of the ranks that nodes start
   * @param claim of the GPUs of the head and its ranks, made when this process is the head
   * @param roster of the nodes
   * @param inherits whether it waits for the seat of a run that another process began
   * @param drives whether the head has a worker that drives servers which others run: there is one
   *     head at a time, so each of them has one owner that gives it weights
   * @param say takes what the operator should know before there is a run
   */
  ClusterStage(
      ClusterSettings settings,
      UnaryOperator<Config> measured,
      List<String> own,
      List<HostPort> seeds,
      Pass pass,
      Terms terms,
      RunLease lease,
      HeadWeights weights,
      HeadHall hall,
      Claim claim,
      Roster roster,
      boolean inherits,
      boolean drives,
      Consumer<String> say) {
    this.settings = settings;
    this.measured = measured;
    this.own = List.copyOf(own);
    this.seeds = List.copyOf(seeds);
    this.pass = pass;
    this.terms = terms;
    this.lease = lease;
    this.weights = weights;
    this.hall = hall;
    this.claim = claim;
    this.roster = roster;
    this.inherits = inherits;
    this.driven = drives ? Optional.of(new WeightsInMemory()) : Optional.empty();
    this.say = say;
  }

  @Override
  public boolean enter() throws IOException, CannotJoinException, InterruptedException {
    if (seeds.isEmpty()) { // Nobody to wait for is known, and nothing is begun before.
      claimGpus(Duration.ZERO);
      takeLease(Duration.ZERO);
    }
    ActorSystem<Run.Command> system =
        ActorSystem.create(
            HeadHouse.guardian(pass, () -> seated.complete(true), house::complete),
            ClusterSettings.SYSTEM,
            settings.setup(lease, measured));
    started.complete(system);
    var _ = system.getWhenTerminated().thenAccept(_ -> onTerminated());
    HostPort self = Systems.address(system);
    try {
      if (seeds.isEmpty()) {
        Joining.first(system);
      } else {
        Joining.throughOrFirst(
            system,
            Seeds.given(seeds),
            pass,
            Announcements.COORDINATOR_AT + self,
            PATIENCE,
            lease::take);
      }
    } catch (CannotJoinException | IOException e) {
      system.terminate();
      throw e;
    }
    say.accept("cluster " + pass.cluster() + " · " + Announcements.COORDINATOR_AT + self);
    say.accept("node    troupe node --seed " + self);
    boolean mine = seated.join();
    if (!mine) {
      system.getWhenTerminated().toCompletableFuture().join();
      if (!left.get()) {
        throw new CannotJoinException(
            "the cluster has removed this process, which waited to be head and did not answer for 7"
                + " s; start it again");
      }
      return false;
    }
    try {
      takeLease(HAND_OVER);
      if (!seeds.isEmpty()) {
        claimGpus(RELEASE);
      }
      weights.open();
      hall.open().map(HeadHall::listener).ifPresent(roster::reportTo);
    } catch (CannotJoinException | IOException e) {
      system.terminate();
      throw e;
    }
    return true;
  }

  /** The seat alone gives no right to the run: whoever had it may still be writing. */
  private void takeLease(Duration patience)
      throws IOException, CannotJoinException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!lease.take()) {
      if (System.nanoTime() >= deadline) {
        throw new CannotJoinException(
            "run %s has a head already, which holds %s/cluster/lease; to stand by for it, pass its address as --seed"
                .formatted(terms.run(), terms.folder()));
      }
      Thread.sleep(LOOK_AGAIN_MILLIS);
    }
  }

  private void claimGpus(Duration patience) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        HeadGpus.Own own = claim.take();
        gpus = own.visible();
        roster.headOn(own.numbers());
        return;
      } catch (IOException refused) {
        if (System.nanoTime() >= deadline) {
          throw refused;
        }
        Thread.sleep(LOOK_AGAIN_MILLIS);
      }
    }
  }

  private void onTerminated() {
    seated.complete(false);
    hall.close();
    try {
      weights.close();
    } catch (IOException e) {
      say.accept("weights of this process were left behind: " + e.getMessage());
    }
    try {
      lease.close();
    } catch (IOException e) {
      say.accept("the run's lease was not given up before this process ends: " + e.getMessage());
    }
  }

  /** Leaves the cluster if this process only waits; the head of a run stays. */
  void leaveUnlessSeated() {
    left.set(true);
    if (seated.complete(false)) {
      var _ = started.thenAccept(ActorSystem::terminate);
    }
  }

  @Override
  public boolean inherits() {
    return inherits;
  }

  @Override
  public WeightOutlet outlet() {
    WeightOutlet nodes = weights.outlet();
    return driven.isEmpty()
        ? nodes
        : snapshot ->
            nodes
                .publish(snapshot)
                .thenCompose(out -> driven.get().publish(snapshot).thenApply(_ -> out));
  }

  @Override
  public WeightSource source() {
    return driven
        .<WeightSource>map(memory -> memory)
        .orElse(
            published ->
                CompletableFuture.failedFuture(
                    new IllegalStateException(
                        "no worker is in the head's process, and %s was asked"
                            .formatted(published.version()))));
  }

  @Override
  public Optional<WeightsInMemory> inMemory() {
    return Optional.empty();
  }

  @Override
  public int workers(int configured) {
    return driven.isPresent() ? 1 : 0;
  }

  @Override
  public int sidecars(int configured) {
    return 0;
  }

  @Override
  public void open(Run.Posts posts) {
    house.join().tell(new HeadHouse.Posted(posts));
  }

  @Override
  public List<String> gpus() {
    return gpus;
  }

  @Override
  public Optional<RankHall> hall() {
    return hall.opened();
  }

  @Override
  public void start(Behavior<Run.Command> run, Consumer<String> notes) {
    Terms offered = hall.opened().map(one -> terms.reportingAt(one.address())).orElse(terms);
    house.join().tell(new HeadHouse.Begin(run, offered, weights.deliveries(), roster, notes));
    begun.complete(started.join());
  }

  @Override
  public CompletionStage<ActorSystem<Run.Command>> system() {
    return begun;
  }

  @Override
  public List<NodeFacts> nodes() {
    Map<String, Share> shares = roster.shares();
    Map<String, Deliveries.Held> held = new TreeMap<>();
    weights.deliveries().all().forEach(one -> held.put(one.node(), one));
    Set<String> names = new TreeSet<>(shares.keySet());
    names.addAll(held.keySet());
    return names.stream()
        .map(
            name -> {
              Optional<Deliveries.Held> has = Optional.ofNullable(held.get(name));
              return new NodeFacts(
                  name,
                  Optional.ofNullable(shares.get(name)).map(Share::text).orElse(""),
                  has.map(Deliveries.Held::version).orElse(-1L),
                  has.map(Deliveries.Held::behind).orElse(0L),
                  has.map(Deliveries.Held::trouble).orElse(""),
                  has.map(Deliveries.Held::transfers).orElse(List.of()).stream()
                      .map(ClusterStage::fact)
                      .toList());
            })
        .toList();
  }

  @Override
  public OptionalLong certificateDays() {
    return settings.certificateDays(Instant.now());
  }

  private static NodeFacts.Transfer fact(Deliveries.Transfer one) {
    return new NodeFacts.Transfer(
        one.at(),
        one.version(),
        one.digest(),
        one.fetched(),
        one.reused(),
        one.millis(),
        one.failure());
  }

  /** The nodes stay and wait for a run, so a head comes to them. */
  @Override
  public List<String> again() {
    List<String> options = new ArrayList<>(own);
    List<HostPort> there = roster.addresses();
    (there.isEmpty() ? seeds : there)
        .forEach(seed -> options.addAll(List.of("--seed", seed.toString())));
    return options;
  }

  @Override
  public CompletionStage<?> terminated() {
    return started.thenCompose(ActorSystem::getWhenTerminated);
  }
}
