package io.troupe.app;

import akka.actor.typed.ActorSystem;
import io.troupe.app.config.RunConfig;
import io.troupe.app.console.ProcessEyes;
import io.troupe.app.console.RunConsole;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.FolderWeights;
import io.troupe.cluster.Joining;
import io.troupe.cluster.Joining.CannotJoinException;
import io.troupe.cluster.Pass;
import io.troupe.cluster.Seeds;
import io.troupe.cluster.TransferredSource;
import io.troupe.cluster.WeightsPlace;
import io.troupe.cluster.WorkerHost;
import io.troupe.cluster.secret.RunSecret;
import io.troupe.cluster.weights.WeightClient;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.http.WeightShelf;
import io.troupe.runtime.EngineRoom;
import io.troupe.runtime.RolloutWorker;
import io.troupe.runtime.RunSettings;
import io.troupe.runtime.WeightSource;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
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
@Command(
    name = "worker",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "A rollout worker; node agents start it.")
final class WorkerCommand implements Callable<Integer> {
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

  private final AtomicBoolean told = new AtomicBoolean();

  @Override
  public Integer call() throws Exception {
    CompletableFuture<ActorSystem<WorkerHost.Command>> started = new CompletableFuture<>();
    AgentWatch.start(
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
            ClusterSettings.Role.ROLLOUT,
            composition.frameBytes(),
            run.cluster().tls(),
            System.err::println);
    PolicyEngines engines = composition.enginesOfChild();
    Sources sources = sources(Objects.requireNonNull(folder).resolve("weights"));
    AtomicReference<Optional<String>> deserted = new AtomicReference<>(Optional.empty());
    try (VerifierPools pools = composition.openVerifiers(false);
        Servers servers = servers(run, engines, sources.lying());
        EngineRoom room = new EngineRoom(engines, servers.samplers(engines), servers::retired)) {
      var _ =
          servers
              .deserted()
              .thenAccept(
                  reason -> {
                    deserted.set(Optional.of(reason));
                    var _ = started.thenAccept(ActorSystem::terminate);
                  });
      work(
          run, composition.settings(), settings, pools.rewards(), sources.weights(), room, started);
      servers.report().forEach(System.err::println);
    }
    if (deserted.get().isPresent()) {
      throw new IOException(deserted.get().get());
    }
    if (!told.get()) {
      System.err.println(
          "worker %s was lost: it did not answer for 7 s, or failed too often; its node starts another"
              .formatted(name));
      return ExitCode.UNREACHABLE.code();
    }
    return ExitCode.OK.code();
  }

  private Servers servers(RunConfig run, PolicyEngines engines, WeightShelf.Lying lying)
      throws IOException, InterruptedException {
    return serverFolder == null
        ? Servers.none()
        : Servers.ofWorker(
            run, engines, Objects.requireNonNull(config), serverFolder, lying, System.err::println);
  }

  /**
   * Where weights come from.
   *
   * @param lying those that this host has in files by then
   */
  private record Sources(WeightSource weights, WeightShelf.Lying lying) {}

  private Sources sources(Path shared) throws IOException {
    if (weightServer == null) {
      return new Sources(new FolderWeights(shared), WeightShelf.Lying.nowhere());
    }
    WeightsPlace node = cluster.weights().at(HostPort.parse(weightServer));
    WeightClient client =
        new WeightClient(
            node.endpoint(),
            node.socket(),
            RunSecret.of(System.getenv().getOrDefault(ChildSecrets.WEIGHTS, "")),
            PATIENCE);
    TransferredSource fetched = new TransferredSource(client, Optional.of(node.socket()));
    return new Sources(fetched, fetched::directory);
  }

  private void work(
      RunConfig run,
      RunSettings settings,
      ClusterSettings network,
      VerifierService verifier,
      WeightSource weights,
      EngineRoom room,
      CompletableFuture<ActorSystem<WorkerHost.Command>> started)
      throws CannotJoinException, InterruptedException {
    ActorSystem<WorkerHost.Command> system =
        ActorSystem.create(
            WorkerHost.guardian(
                name,
                verifier,
                ProcessEyes.ofWorker(
                    name,
                    verifier,
                    () -> {
                      var _ = started.thenAccept(own -> own.tell(new WorkerHost.Drain()));
                    }),
                (posts, verifiers) ->
                    RolloutWorker.create(
                        new RolloutWorker.Wiring(
                            room,
                            weights,
                            settings.sampling(),
                            settings.limits().completionsPerPrompt(),
                            settings.groupsPerRequest(),
                            posts.coordinator(),
                            posts.trainer(),
                            verifiers,
                            posts.recorder())),
                () -> told.set(true)),
            ClusterSettings.SYSTEM,
            RunConsole.meter(run.console(), network.config()));
    try {
      Joining.through(
          system,
          Seeds.given(cluster.seeds()),
          new Pass(run.cluster().name(), BuildId.ofThisProcess()),
          "worker %s at %s".formatted(name, Systems.address(system)),
          PATIENCE);
      started.complete(system);
    } catch (CannotJoinException e) {
      system.terminate();
      throw e;
    }
    system.getWhenTerminated().toCompletableFuture().join();
  }
}
