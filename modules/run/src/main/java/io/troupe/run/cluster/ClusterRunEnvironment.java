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
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.membership.SystemAddress;
import io.troupe.console.source.NodeFacts;
import io.troupe.core.run.RunEnd;
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
import java.util.Optional;
import java.util.OptionalLong;
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

  /**
   * How this process becomes a member of the cluster.
   *
   * @param settings of the actor system
   * @param metered adds to these settings that actors are measured
   * @param identity of the cluster, which every member must have
   * @param seeds members to join; none begins a cluster
   * @param options of a command line that starts a coordinator on this host, without seeds
   */
  public record ClusterMembership(
      ClusterSettings settings,
      UnaryOperator<Config> metered,
      ClusterIdentity identity,
      List<HostPort> seeds,
      List<String> options) {
    public ClusterMembership {
      seeds = List.copyOf(seeds);
      options = List.copyOf(options);
    }
  }

  /**
   * The parts of a run that belong to its coordinator.
   *
   * @param lease of the run, which is given up when the run's actors have ended
   * @param weights outlet of new versions
   * @param ranks registry of the ranks that nodes start
   * @param nodeTable table of the nodes
   * @param gpus takes the GPUs of the coordinator and its ranks, once this process coordinates
   */
  public record CoordinatorParts(
      RunLease lease,
      CoordinatorWeights weights,
      CoordinatorRanks ranks,
      NodeTable nodeTable,
      GpuClaimer gpus) {}

  private final ClusterMembership membership;
  private final RunDescriptor descriptor;
  private final CoordinatorParts parts;
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
   * An environment that has not touched anything yet.
   *
   * @param membership of this process in the cluster
   * @param descriptor of the run, for its nodes
   * @param parts opened once this process is the coordinator
   * @param takesOver whether this process waits for the leadership of a run that another process
   *     began
   * @param drivesServers whether the coordinator has a worker for servers that others run: there is
   *     one coordinator at a time, so each server has one process that gives it weights
   * @param say takes sentences for the operator before there is a run
   */
  public ClusterRunEnvironment(
      ClusterMembership membership,
      RunDescriptor descriptor,
      CoordinatorParts parts,
      boolean takesOver,
      boolean drivesServers,
      Consumer<String> say) {
    this.membership = membership;
    this.descriptor = descriptor;
    this.parts = parts;
    this.takesOver = takesOver;
    this.embeddedWeights = drivesServers ? Optional.of(new InMemoryWeights()) : Optional.empty();
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
    if (membership.seeds().isEmpty()) { // Nobody to wait for is known, and nothing is begun before.
      claimGpus(Duration.ZERO);
      takeLease(Duration.ZERO);
    }
    ActorSystem<Void> entered =
        ActorSystem.create(
            CoordinatorGuardian.guardian(
                membership.identity(), () -> leading.complete(true), guardian::complete),
            ClusterSettings.SYSTEM_NAME,
            membership.settings().setup(parts.lease(), membership.metered()));
    system.complete(entered);
    var _ = entered.getWhenTerminated().thenAccept(_ -> onTerminated());
    HostPort self = SystemAddress.address(entered);
    try {
      if (membership.seeds().isEmpty()) {
        ClusterJoin.form(entered);
      } else {
        ClusterJoin.joinOrForm(
            entered,
            SeedNodes.given(membership.seeds()),
            membership.identity(),
            Announcements.COORDINATOR_AT + self,
            PATIENCE,
            parts.lease()::take);
      }
    } catch (ClusterJoinException | IOException e) {
      entered.terminate();
      throw e;
    }
    say.accept(
        "cluster " + membership.identity().cluster() + " · " + Announcements.COORDINATOR_AT + self);
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
      if (!membership.seeds().isEmpty()) {
        claimGpus(GPU_RELEASE_TIMEOUT);
      }
      parts.weights().open();
      parts.ranks().open().map(CoordinatorRanks::listener).ifPresent(parts.nodeTable()::reportTo);
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
    while (!parts.lease().take()) {
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
        CoordinatorGpus.ComputeDevices own = parts.gpus().take();
        gpus = own.visible();
        parts.nodeTable().reserveCoordinatorGpus(own.numbers());
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
    parts.ranks().close();
    try {
      parts.weights().close();
    } catch (IOException e) {
      say.accept("weights of this process were left behind: " + e.getMessage());
    }
    try {
      parts.lease().close();
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
    WeightPublisher nodes = parts.weights().outlet();
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
    return parts.ranks().opened();
  }

  @Override
  public void start(Behavior<Run.Command> run, Consumer<String> notes) {
    RunDescriptor offered =
        parts
            .ranks()
            .opened()
            .map(one -> descriptor.withRankRegistry(one.address()))
            .orElse(descriptor);
    guardian
        .join()
        .tell(
            new CoordinatorGuardian.StartRun(
                run,
                offered,
                parts.weights().distribution(),
                parts.nodeTable(),
                () -> complete,
                notes));
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
    return NodeFactRows.of(
        parts.nodeTable().assignments(), parts.weights().distribution().versions());
  }

  @Override
  public OptionalLong certificateDays() {
    return membership.settings().certificateDays(Instant.now());
  }

  /** The nodes stay and wait for a run, so a coordinator comes to them. */
  @Override
  public List<String> resumeArguments() {
    if (onOneHost.isPresent()) {
      return List.of("--gpus", onOneHost.get());
    }
    List<String> options = new ArrayList<>(membership.options());
    List<HostPort> there = parts.nodeTable().addresses();
    (there.isEmpty() ? membership.seeds() : there)
        .forEach(seed -> options.addAll(List.of("--seed", seed.toString())));
    return options;
  }

  @Override
  public CompletionStage<?> terminated() {
    return system.thenCompose(ActorSystem::getWhenTerminated);
  }
}
