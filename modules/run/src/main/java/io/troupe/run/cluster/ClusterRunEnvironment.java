package io.troupe.run.cluster;

import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import com.typesafe.config.Config;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.Announcements;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.CoordinatorGuardian;
import io.troupe.cluster.NodeTable;
import io.troupe.cluster.RunDescriptor;
import io.troupe.cluster.WeightDistribution;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.membership.SystemAddress;
import io.troupe.console.source.NodeFacts;
import io.troupe.core.run.RunEnd;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.ranks.RankRegistry;
import io.troupe.run.compose.CoordinatorGpus;
import io.troupe.run.console.StartedRun;
import io.troupe.run.session.RunEnvironment;
import io.troupe.runtime.Run;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.runtime.weights.WeightSource;
import io.troupe.store.folder.RunLease;
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
 * The coordinator of a run over many JVMs, or a process that waits to become it: the cluster gives
 * the leadership to one process at a time, and to another one when that process is gone.
 */
public final class ClusterRunEnvironment implements RunEnvironment {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The time in which a coordinator that has given up its leadership must end. */
  private static final Duration HANDOVER_TIMEOUT = Duration.ofSeconds(60);

  /** The time for which GPUs of a coordinator that has just ended may still look used. */
  private static final Duration GPU_RELEASE_TIMEOUT = Duration.ofSeconds(20);

  private static final long POLL_MILLIS = 250;

  /** Takes what a coordinator computes on; blocks. */
  @FunctionalInterface
  public interface GpuClaimer {
    /**
     * Takes the devices.
     *
     * @throws IOException if another process uses a device, with the name of that process
     */
    CoordinatorGpus.ComputeDevices take() throws IOException;
  }

  private final ClusterSettings settings;
  private final UnaryOperator<Config> metered;
  private final List<String> ownOptions;
  private final List<HostPort> seeds;
  private final ClusterIdentity identity;
  private final RunDescriptor descriptor;
  private final RunLease lease;
  private final CoordinatorWeights weights;
  private final CoordinatorRanks ranks;
  private final GpuClaimer claim;
  private final NodeTable nodeTable;
  private final boolean takesOver;
  private final Optional<InMemoryWeights> embeddedWeights;
  private final Consumer<String> say;
  private Entered onEntered = _ -> {};
  private Optional<String> onOneHost = Optional.empty();
  private final AtomicBoolean left = new AtomicBoolean();
  private volatile List<String> gpus = List.of();
  private volatile boolean complete;
  private final CompletableFuture<Boolean> leading = new CompletableFuture<>();
  private final CompletableFuture<ActorSystem<Void>> system = new CompletableFuture<>();
  private final CompletableFuture<Run.RunActors> actors = new CompletableFuture<>();
  private final CompletableFuture<ActorRef<CoordinatorGuardian.Command>> guardian =
      new CompletableFuture<>();

  /**
   * A stage that has not touched anything yet.
   *
   * @param measured adds to the actor system's settings that its actors are measured
   * @param own options of a coordinator on this host, without seeds
   * @param seeds none begins a cluster
   * @param lease of the run; the stage gives it up when its actors are gone
   * @param ranks registry of the ranks that nodes start
   * @param claim of the GPUs of the coordinator and its ranks, made when this process is the
   *     coordinator
   * @param nodeTable table of the nodes
   * @param inherits whether it waits for the leadership of a run that another process began
   * @param drives whether the coordinator has a worker that drives servers which others run: there
   *     is one coordinator at a time, so each of them has one owner that gives it weights
   * @param say takes what the operator should know before there is a run
   */
  public ClusterRunEnvironment(
      ClusterSettings settings,
      UnaryOperator<Config> measured,
      List<String> own,
      List<HostPort> seeds,
      ClusterIdentity pass,
      RunDescriptor terms,
      RunLease lease,
      CoordinatorWeights weights,
      CoordinatorRanks ranks,
      GpuClaimer claim,
      NodeTable nodeTable,
      boolean inherits,
      boolean drives,
      Consumer<String> say) {
    this.settings = settings;
    this.metered = measured;
    this.ownOptions = List.copyOf(own);
    this.seeds = List.copyOf(seeds);
    this.identity = pass;
    this.descriptor = terms;
    this.lease = lease;
    this.weights = weights;
    this.ranks = ranks;
    this.claim = claim;
    this.nodeTable = nodeTable;
    this.takesOver = inherits;
    this.embeddedWeights = drives ? Optional.of(new InMemoryWeights()) : Optional.empty();
    this.say = say;
  }

  /** Takes the address of this process, once it is the run's coordinator. */
  @FunctionalInterface
  public interface Entered {
    /** Called before the run starts; a failure ends it. */
    void at(HostPort self) throws IOException;
  }

  /** Has something done once this process is the run's coordinator, before the run starts. */
  public ClusterRunEnvironment onceEntered(Entered then) {
    onEntered = then;
    return this;
  }

  /** Makes {@code --gpus} of the command, and no address of a node, what resumes the run. */
  public ClusterRunEnvironment placedOn(String gpus) {
    onOneHost = Optional.of(gpus);
    return this;
  }

  @Override
  public boolean enter() throws IOException, ClusterJoinException, InterruptedException {
    if (seeds.isEmpty()) { // Nobody to wait for is known, and nothing is begun before.
      claimGpus(Duration.ZERO);
      takeLease(Duration.ZERO);
    }
    ActorSystem<Void> entered =
        ActorSystem.create(
            CoordinatorGuardian.guardian(
                identity, () -> leading.complete(true), guardian::complete),
            ClusterSettings.SYSTEM_NAME,
            settings.setup(lease, metered));
    system.complete(entered);
    var _ = entered.getWhenTerminated().thenAccept(_ -> onTerminated());
    HostPort self = SystemAddress.address(entered);
    try {
      if (seeds.isEmpty()) {
        ClusterJoin.form(entered);
      } else {
        ClusterJoin.joinOrForm(
            entered,
            SeedNodes.given(seeds),
            identity,
            Announcements.COORDINATOR_AT + self,
            PATIENCE,
            lease::take);
      }
    } catch (ClusterJoinException | IOException e) {
      entered.terminate();
      throw e;
    }
    say.accept("cluster " + identity.cluster() + " · " + Announcements.COORDINATOR_AT + self);
    say.accept("node    troupe node --seed " + self);
    boolean mine = leading.join();
    if (!mine) {
      entered.getWhenTerminated().toCompletableFuture().join();
      if (!left.get()) {
        throw new ClusterJoinException(
            "the cluster has removed this process, which waited to be coordinator and did not"
                + " answer for 7 s; start it again");
      }
      return false;
    }
    try {
      takeLease(HANDOVER_TIMEOUT);
      if (!seeds.isEmpty()) {
        claimGpus(GPU_RELEASE_TIMEOUT);
      }
      weights.open();
      ranks.open().map(CoordinatorRanks::listener).ifPresent(nodeTable::reportTo);
      onEntered.at(self);
    } catch (ClusterJoinException | IOException e) {
      entered.terminate();
      throw e;
    }
    return true;
  }

  /**
   * The leadership alone gives no right to the run: the former coordinator may still be writing.
   */
  private void takeLease(Duration patience)
      throws IOException, ClusterJoinException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!lease.take()) {
      if (System.nanoTime() >= deadline) {
        throw new ClusterJoinException(
            "run %s has a coordinator already, which holds %s/cluster/lease; to stand by for it, pass its address as --seed"
                .formatted(descriptor.run(), descriptor.folder()));
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  private void claimGpus(Duration patience) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        CoordinatorGpus.ComputeDevices own = claim.take();
        gpus = own.visible();
        nodeTable.reserveCoordinatorGpus(own.numbers());
        return;
      } catch (IOException refused) {
        if (System.nanoTime() >= deadline) {
          throw refused;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private void onTerminated() {
    leading.complete(false);
    ranks.close();
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

  /** Leaves the cluster if this process only waits; the coordinator of a run stays. */
  public void leaveUnlessLeading() {
    left.set(true);
    if (leading.complete(false)) {
      var _ = system.thenAccept(ActorSystem::terminate);
    }
  }

  @Override
  public boolean takesOver() {
    return takesOver;
  }

  @Override
  public WeightPublisher outlet() {
    WeightPublisher nodes = weights.outlet();
    return embeddedWeights.isEmpty()
        ? nodes
        : snapshot ->
            nodes
                .publish(snapshot)
                .thenCompose(out -> embeddedWeights.get().publish(snapshot).thenApply(_ -> out));
  }

  @Override
  public WeightSource source() {
    return embeddedWeights
        .<WeightSource>map(memory -> memory)
        .orElse(
            published ->
                CompletableFuture.failedFuture(
                    new IllegalStateException(
                        "no worker is in the coordinator's process, and %s was asked"
                            .formatted(published.version()))));
  }

  @Override
  public Optional<InMemoryWeights> inMemory() {
    return Optional.empty();
  }

  @Override
  public int workers(int configured) {
    return embeddedWeights.isPresent() ? 1 : 0;
  }

  @Override
  public int sidecars(int configured) {
    return 0;
  }

  @Override
  public void actorsStarted(Run.RunActors started) {
    guardian.join().tell(new CoordinatorGuardian.RunActorsReady(started));
    actors.complete(started);
  }

  @Override
  public String gpuOption() {
    return onOneHost.orElse("auto");
  }

  @Override
  public List<String> gpus() {
    return gpus;
  }

  @Override
  public Optional<RankRegistry> ranks() {
    return ranks.opened();
  }

  @Override
  public void start(Behavior<Run.Command> run, Consumer<String> notes) {
    RunDescriptor offered =
        ranks.opened().map(one -> descriptor.withRankRegistry(one.address())).orElse(descriptor);
    guardian
        .join()
        .tell(
            new CoordinatorGuardian.StartRun(
                run, offered, weights.distribution(), nodeTable, () -> complete, notes));
  }

  @Override
  public void ended(RunEnd end) {
    complete = end instanceof RunEnd.Completed;
  }

  @Override
  public CompletionStage<StartedRun> started() {
    return system.thenCombine(actors, (all, run) -> new StartedRun(all, run.coordinator()));
  }

  @Override
  public List<NodeFacts> nodes() {
    Map<String, NodeAssignment> shares = nodeTable.assignments();
    Map<String, WeightDistribution.NodeVersion> held = new TreeMap<>();
    weights.distribution().versions().forEach(one -> held.put(one.node(), one));
    Set<String> names = new TreeSet<>(shares.keySet());
    names.addAll(held.keySet());
    return names.stream()
        .map(
            name -> {
              Optional<WeightDistribution.NodeVersion> has = Optional.ofNullable(held.get(name));
              return new NodeFacts(
                  name,
                  Optional.ofNullable(shares.get(name)).map(NodeAssignment::text).orElse(""),
                  has.map(WeightDistribution.NodeVersion::version).orElse(-1L),
                  has.map(WeightDistribution.NodeVersion::behind).orElse(0L),
                  has.map(WeightDistribution.NodeVersion::trouble).orElse(""),
                  has.map(WeightDistribution.NodeVersion::transfers).orElse(List.of()).stream()
                      .map(ClusterRunEnvironment::fact)
                      .toList());
            })
        .toList();
  }

  @Override
  public OptionalLong certificateDays() {
    return settings.certificateDays(Instant.now());
  }

  private static NodeFacts.Transfer fact(WeightDistribution.Transfer one) {
    return new NodeFacts.Transfer(
        one.at(),
        one.version(),
        one.digest(),
        one.fetched(),
        one.reused(),
        one.millis(),
        one.failure());
  }

  /** The nodes stay and wait for a run, so a coordinator comes to them. */
  @Override
  public List<String> resumeArguments() {
    if (onOneHost.isPresent()) {
      return List.of("--gpus", onOneHost.get());
    }
    List<String> options = new ArrayList<>(ownOptions);
    List<HostPort> there = nodeTable.addresses();
    (there.isEmpty() ? seeds : there)
        .forEach(seed -> options.addAll(List.of("--seed", seed.toString())));
    return options;
  }

  @Override
  public CompletionStage<?> terminated() {
    return system.thenCompose(ActorSystem::getWhenTerminated);
  }
}
