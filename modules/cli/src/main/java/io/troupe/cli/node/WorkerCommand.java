package io.troupe.cli.node;

import akka.actor.typed.ActorSystem;
import io.troupe.base.build.BuildId;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ParentWatch;
import io.troupe.cli.command.CliCommand;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.WorkerHost;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.membership.SystemAddress;
import io.troupe.cluster.weights.FolderWeights;
import io.troupe.cluster.weights.NetworkWeightSource;
import io.troupe.config.RunConfig;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.run.cluster.CheckpointWeights;
import io.troupe.run.compose.ChildSecrets;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.RunInferenceServers;
import io.troupe.run.console.ProcessProbe;
import io.troupe.run.console.RunConsole;
import io.troupe.run.task.VerifierPools;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.runtime.evaluation.SamplerState;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.weights.WeightSource;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.weights.transfer.WeightClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe worker}: one rollout worker in a JVM of its own. A node agent starts it, and it
 * ends with its standard input, which is a pipe from the agent.
 */
@Command(name = "worker", hidden = true, description = "A rollout worker; node agents start it.")
public final class WorkerCommand extends CliCommand {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Option(names = "--config", required = true, paramLabel = "FILE", description = "Resolved run.")
  private @Nullable Path config;

  @Option(names = "--name", required = true, paramLabel = "NAME", description = "Of the worker.")
  private String name = "";

  @Option(names = "--run-folder", required = true, paramLabel = "DIR", description = "Of the run.")
  private @Nullable Path folder;

  @Option(
      names = "--verifiers",
      paramLabel = "N",
      description = "Completions verified at a time; by default verifier.workers of the run.")
  private @Nullable Integer verifiers;

  @Option(
      names = "--weights",
      paramLabel = "HOST:PORT",
      description = "The node's weight server; by default weights lie in the run folder.")
  private @Nullable String weightServer;

  @Option(
      names = "--server-folder",
      paramLabel = "DIR",
      description = "Start an inference server, and have it sample; DIR takes its log and card.")
  private @Nullable Path serverFolder;

  @Mixin private ClusterOptions cluster = new ClusterOptions();

  private final AtomicBoolean runEnded = new AtomicBoolean();

  @Override
  public Integer call() throws Exception {
    CompletableFuture<ActorSystem<WorkerHost.Command>> started = new CompletableFuture<>();
    ParentWatch.start(
        () -> {
          var _ = started.thenAccept(system -> system.tell(new WorkerHost.Drain()));
        });
    RunConfig run =
        RunConfig.load(
                Objects.requireNonNull(config),
                verifiers == null ? List.of() : List.of("verifier.workers=" + verifiers))
            .config();
    Composition composition =
        Composition.of(run, Objects.requireNonNull(folder).resolve("checkpoints"));
    ClusterSettings settings =
        cluster.settings(
            ClusterSettings.ClusterRole.ROLLOUT,
            composition.frameBytes(),
            run.cluster().tls(),
            System.err::println);
    PolicyEngines engines = composition.workerEngines();
    Sources sources = sources(Objects.requireNonNull(folder).resolve("weights"));
    AtomicReference<Optional<String>> deserted = new AtomicReference<>(Optional.empty());
    try (VerifierPools pools = composition.openVerifiers(false);
        RunInferenceServers servers = servers(run, engines, sources.hostFiles());
        EngineRegistry room =
            new EngineRegistry(engines, servers.samplers(engines), servers::retired)) {
      var _ =
          servers
              .allGivenUp()
              .thenAccept(
                  reason -> {
                    deserted.set(Optional.of(reason));
                    var _ = started.thenAccept(ActorSystem::terminate);
                  });
      work(
          run,
          composition.settings(),
          settings,
          pools.rewards(),
          sources.weights(),
          room,
          evaluations(room),
          started);
      servers.report().forEach(System.err::println);
    }
    if (deserted.get().isPresent()) {
      throw new IOException(deserted.get().get());
    }
    if (!runEnded.get()) {
      System.err.println(
          "worker %s was lost: it did not answer for 7 s, or failed too often; its node starts another"
              .formatted(name));
      return ExitCode.UNREACHABLE.code();
    }
    return ExitCode.OK.code();
  }

  private RunInferenceServers servers(
      RunConfig run, PolicyEngines engines, ServerWeightFolder.WeightFileFinder hostFiles)
      throws IOException, InterruptedException {
    return serverFolder == null
        ? RunInferenceServers.none()
        : RunInferenceServers.ofWorker(
            run,
            engines,
            Objects.requireNonNull(config),
            serverFolder,
            hostFiles,
            System.err::println);
  }

  /**
   * The sources of weights.
   *
   * @param hostFiles weights that this host has in files by then
   */
  private record Sources(WeightSource weights, ServerWeightFolder.WeightFileFinder hostFiles) {}

  private Sources sources(Path shared) throws IOException {
    if (weightServer == null) {
      return new Sources(new FolderWeights(shared), ServerWeightFolder.WeightFileFinder.none());
    }
    ListenAddress node = cluster.weights().withAddress(HostPort.parse(weightServer));
    WeightClient client =
        new WeightClient(
            node.endpoint(),
            node.socket(),
            RunSecret.of(System.getenv().getOrDefault(ChildSecrets.WEIGHTS, "")),
            PATIENCE);
    NetworkWeightSource fetched = new NetworkWeightSource(client, Optional.of(node.socket()));
    return new Sources(fetched, fetched::directory);
  }

  private void work(
      RunConfig run,
      RunSettings settings,
      ClusterSettings network,
      VerifierService verifier,
      WeightSource weights,
      EngineRegistry room,
      EvaluationSampler.Wiring evaluations,
      CompletableFuture<ActorSystem<WorkerHost.Command>> started)
      throws ClusterJoinException, InterruptedException {
    ActorSystem<WorkerHost.Command> system =
        ActorSystem.create(
            WorkerHost.guardian(
                name,
                verifier,
                ProcessProbe.ofWorker(
                    name,
                    verifier,
                    () -> {
                      var _ = started.thenAccept(own -> own.tell(new WorkerHost.Drain()));
                    }),
                EvaluationSampler.create(evaluations),
                (posts, verifiers) ->
                    RolloutWorker.create(
                        new RolloutWorker.Wiring(
                            room,
                            weights,
                            settings.sampling(),
                            settings.limits().groups().size(),
                            settings.groupsPerRequest(),
                            posts.coordinator(),
                            posts.trainer(),
                            verifiers,
                            posts.recorder())),
                () -> runEnded.set(true)),
            ClusterSettings.SYSTEM_NAME,
            RunConsole.meter(run.console(), network.config()));
    try {
      ClusterJoin.joinVia(
          system,
          SeedNodes.given(cluster.seeds()),
          new ClusterIdentity(run.cluster().name(), BuildId.ofThisProcess()),
          "worker %s at %s".formatted(name, SystemAddress.address(system)),
          PATIENCE);
      started.complete(system);
    } catch (ClusterJoinException e) {
      system.terminate();
      throw e;
    }
    system.getWhenTerminated().toCompletableFuture().join();
  }

  /** A server holds one version at a time, and moves to each one that is published. */
  private EvaluationSampler.Wiring evaluations(EngineRegistry room) throws IOException {
    Path own = Objects.requireNonNull(config).resolveSibling(name + "-evaluation");
    return new EvaluationSampler.Wiring(
        new SamplerState.Terms(
            name,
            String.valueOf(Objects.requireNonNull(folder).getFileName()),
            Optional.ofNullable(serverFolder)
                .map(
                    _ ->
                        "worker %s samples by an inference server, which follows the run's newest weights; evaluate without --cluster, so that troupe eval starts servers of its own"
                            .formatted(name))),
        room,
        new CheckpointWeights(name, own, cluster.weights()));
  }
}
