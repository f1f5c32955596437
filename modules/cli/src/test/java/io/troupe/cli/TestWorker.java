package io.troupe.cli;

import akka.actor.ActorRef;
import akka.actor.Kill;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.Adapter;
import akka.actor.typed.javadsl.Behaviors;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.build.BuildId;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.WorkerHost;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.tls.TlsTransport;
import io.troupe.cluster.weights.FolderWeights;
import io.troupe.config.RunConfig;
import io.troupe.net.tls.UserKeys;
import io.troupe.run.compose.Composition;
import io.troupe.run.console.ProcessProbe;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.Run;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.store.folder.RunFolder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A rollout worker of a cluster in the test's own process, through which a test reaches the actors
 * of the run.
 */
final class TestWorker implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final BlockingQueue<Run.RunActors> posts = new LinkedBlockingQueue<>();
  private final VerifierPools verifiers;
  private final EngineRegistry room;
  private final ActorSystem<WorkerHost.Command> system;

  private TestWorker(RunFolder run, HostPort seed, String name) throws Exception {
    RunConfig config = RunConfig.load(run.resolved(), List.of()).config();
    Composition composition = Composition.of(config, run.checkpoints());
    ClusterSettings network =
        new ClusterSettings(
            new HostPort("127.0.0.1", 0),
            Set.of(ClusterSettings.ClusterRole.ROLLOUT),
            composition.frameBytes(),
            TlsTransport.ofUser(UserKeys.in(ChildRun.STATE)),
            false);
    this.verifiers = composition.openVerifiers(false);
    this.room = new EngineRegistry(composition.workerEngines());
    FolderWeights weights = new FolderWeights(run.path().resolve("weights"));
    RunSettings settings = composition.settings();
    this.system =
        ActorSystem.create(
            WorkerHost.guardian(
                name,
                verifiers.rewards(),
                ProcessProbe.ofWorker(name, verifiers.rewards(), () -> {}),
                Behaviors.ignore(),
                (given, pool) -> {
                  posts.add(given);
                  return RolloutWorker.create(
                      new RolloutWorker.Wiring(
                          room,
                          weights,
                          settings.sampling(),
                          settings.limits().groups().size(),
                          settings.groupsPerRequest(),
                          given.coordinator(),
                          given.trainer(),
                          pool,
                          given.recorder()));
                },
                () -> {}),
            ClusterSettings.SYSTEM_NAME,
            ConfigFactory.parseString(
                    "akka.loglevel = OFF, troupe.transport-cutoff-patience = 100ms")
                .withFallback(network.config()));
    String build = BuildId.of(BuildInfo.version(), WarmStart.get().classPath()); // the others' own
    ClusterIdentity pass = new ClusterIdentity(config.cluster().name(), build);
    ClusterJoin.joinVia(system, SeedNodes.given(List.of(seed)), pass, "worker " + name, PATIENCE);
  }

  /** A worker that works for the run of a coordinator. */
  static TestWorker at(RunFolder run, String coordinator, String name) throws Exception {
    return new TestWorker(run, HostPort.parse(coordinator), name);
  }

  /** The actors of the next coordinator that takes this worker on. */
  Run.RunActors awaitPosts() throws InterruptedException {
    return Optional.ofNullable(posts.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).orElseThrow();
  }

  /** Has an actor of the run throw. */
  void fail(akka.actor.typed.ActorRef<?> actor) {
    Adapter.toClassic(actor).tell(Kill.getInstance(), ActorRef.noSender());
  }

  /** Has an actor throw that no worker talks to, of the coordinator whose trainer this is. */
  void fail(Run.RunActors of, String name) {
    Adapter.toClassic(system)
        .actorSelection(of.trainer().path().parent().child(name))
        .tell(Kill.getInstance(), ActorRef.noSender());
  }

  @Override
  public void close() {
    system.terminate();
    system
        .getWhenTerminated()
        .toCompletableFuture()
        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .join();
    room.close();
    verifiers.close();
  }
}
