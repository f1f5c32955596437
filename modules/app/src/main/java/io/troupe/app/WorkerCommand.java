package io.troupe.app;

import akka.actor.typed.ActorSystem;
import io.troupe.app.config.RunConfig;
import io.troupe.app.console.ProcessEyes;
import io.troupe.app.console.RunConsole;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.FolderWeights;
import io.troupe.cluster.HostPort;
import io.troupe.cluster.Joining;
import io.troupe.cluster.Joining.CannotJoinException;
import io.troupe.cluster.Pass;
import io.troupe.cluster.Seeds;
import io.troupe.cluster.TransferredSource;
import io.troupe.cluster.WeightsPlace;
import io.troupe.cluster.WorkerHost;
import io.troupe.cluster.weights.RunSecret;
import io.troupe.cluster.weights.WeightClient;
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
  /** Environment variable with the run's secret, which a command line would show to everybody. */
  static final String SECRET = "TROUPE_WEIGHTS_SECRET";

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

  @Mixin private ClusterOptions cluster = new ClusterOptions();

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
    try (VerifierService verifier = composition.openVerifiers();
        FolderWeights shared =
            new FolderWeights(Objects.requireNonNull(folder).resolve("weights"));
        EngineRoom room = new EngineRoom(composition.engines())) {
      work(run, composition.settings(), settings, verifier, source(shared), room, started);
    }
    return ExitCode.OK.code();
  }

  private WeightSource source(FolderWeights shared) throws IOException {
    if (weightServer == null) {
      return shared;
    }
    WeightsPlace node = cluster.weights().at(HostPort.parse(weightServer));
    WeightClient client =
        new WeightClient(
            node.endpoint(),
            node.socket(),
            RunSecret.of(System.getenv().getOrDefault(SECRET, "")),
            PATIENCE);
    return new TransferredSource(client, Optional.of(node.socket()));
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
                            posts.recorder()))),
            ClusterSettings.SYSTEM,
            RunConsole.meter(run.console(), network.config()));
    try {
      Joining.through(
          system,
          Seeds.given(cluster.seeds()),
          new Pass(run.cluster().name(), BuildId.ofThisProcess()),
          "worker " + name,
          PATIENCE);
      started.complete(system);
    } catch (CannotJoinException e) {
      system.terminate();
      throw e;
    }
    system.getWhenTerminated().toCompletableFuture().join();
  }
}
