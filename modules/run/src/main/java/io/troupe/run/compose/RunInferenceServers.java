package io.troupe.run.compose;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.JavaCommand;
import io.troupe.config.RunConfig;
import io.troupe.config.policy.LoraSection;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.config.rollout.SidecarsSection;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.http.broadcast.WeightBroadcaster;
import io.troupe.engine.http.broadcast.WeightRoute;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.fleet.InferenceServers;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.probe.ServerRequirements;
import io.troupe.engine.http.replica.ServedWeightsCheck;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.http.sidecar.KeyOnEveryRoute;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.engine.http.sidecar.SidecarSupervision;
import io.troupe.engine.http.sidecar.Sidecars;
import io.troupe.engine.safetensors.DType;
import io.troupe.run.model.ModelCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The inference servers of a run, if it has any. */
public final class RunInferenceServers implements AutoCloseable {
  /** Most nats between two engines in single precision; measured are 1e-5. */
  private static final double SINGLE_PRECISION = 0.002;

  private static final List<String> TENSORS = List.of(".safetensors", ".safetensors.index.json");

  private final Optional<InferenceServers> pool;

  private RunInferenceServers(Optional<InferenceServers> pool) {
    this.pool = pool;
  }

  /** No servers. */
  public static RunInferenceServers none() {
    return new RunInferenceServers(Optional.empty());
  }

  /**
   * Starts the one server that a worker of a node drives, and waits until it serves: a worker that
   * registered before would hold leases meanwhile that no server samples.
   *
   * @param resolved the run's configuration
   * @param folder for weights, log and card of this server alone
   * @param hostFiles weights that the node has in files
   * @throws IOException if it does not come to serve; says why
   */
  public static RunInferenceServers ofWorker(
      RunConfig config,
      PolicyEngines engines,
      Path resolved,
      Path folder,
      ServerWeightFolder.WeightFileFinder hostFiles,
      Consumer<String> say)
      throws IOException, InterruptedException {
    say.accept("its server starts; log %s".formatted(folder.resolve("sidecar-1.log")));
    RunInferenceServers started = started(config, 1, engines, resolved, folder, hostFiles);
    say.accept("its server serves");
    return started;
  }

  /**
   * Starts the servers that a run starts beside itself, to evaluate weights of the run, and waits
   * until one serves. Servers that the run names by URL are left alone: they may sample for it.
   *
   * @param resolved the run's configuration
   * @param folder for weights, logs and pids of these servers
   * @throws IOException if none comes to serve, or if they cannot take weights from files; says why
   */
  public static RunInferenceServers ofEvaluation(
      RunConfig config, PolicyEngines engines, Path resolved, Path folder, Consumer<String> say)
      throws IOException, InterruptedException {
    if (config.rollout().weights() == WeightRoute.NCCL) {
      throw new UnsupportedPolicyException(
          "the sidecars of the run take weights over NCCL from its trainer (rollout.weights), which"
              + " an evaluation does not have; sample in this process, or by --endpoint");
    }
    int count = config.rollout().sidecars().count();
    say.accept("%d sidecars start; logs in %s".formatted(count, folder));
    return started(
        config, count, engines, resolved, folder, ServerWeightFolder.WeightFileFinder.none());
  }

  private static RunInferenceServers started(
      RunConfig config,
      int count,
      PolicyEngines engines,
      Path resolved,
      Path folder,
      ServerWeightFolder.WeightFileFinder hostFiles)
      throws IOException, InterruptedException {
    InferenceServers pool =
        InferenceServers.open(
            policy(config, engines),
            List.of(),
            plan(
                config,
                count,
                resolved,
                InferenceServers.weights(folder),
                SidecarSupervision.Settings::ofWorker),
            contents(config),
            folder,
            companions(config),
            hostFiles,
            Optional.empty());
    Optional<String> obstacle = pool.awaitFirstServer();
    if (obstacle.isPresent()) {
      pool.close();
      throw new IOException(obstacle.get());
    }
    return new RunInferenceServers(Optional.of(pool));
  }

  private static Sidecars.SidecarPlan plan(
      RunConfig config,
      int count,
      Path resolved,
      Path weights,
      Function<Duration, SidecarSupervision.Settings> supervision) {
    SidecarsSection own = config.rollout().sidecars();
    return new Sidecars.SidecarPlan(
        count,
        own.concurrency(),
        config.rollout().patience(),
        supervision.apply(own.startTimeout()),
        starter(config, resolved, weights),
        own.restartForWeights());
  }

  /**
   * Looks at the named servers, and starts the others.
   *
   * @param sidecars number of servers that the process starts
   * @param resolved the run's configuration, which a sidecar of ours reads
   * @param folder for weights, logs and pids
   * @throws IOException if a named server cannot do what a rollout needs; says what to start it
   *     with
   */
  public static RunInferenceServers open(
      RunConfig config,
      int sidecars,
      PolicyEngines engines,
      Path resolved,
      Path folder,
      Consumer<String> say)
      throws IOException, InterruptedException {
    if (!config.rollout().usesServers()) {
      return none();
    }
    List<InferenceEndpoint> named =
        config.rollout().endpoints().endpoints().stream()
            .map(endpoint -> endpoint.withPatience(config.rollout().patience()))
            .toList();
    LocalPolicy policy = policy(config, engines);
    boolean broadcasts = config.rollout().weights() == WeightRoute.NCCL;
    ServerRequirements needs =
        ServerRequirements.of(policy, config.rollout().publish(), false).broadcasting(broadcasts);
    Optional<WeightBroadcaster> broadcaster = ServerBroadcasts.open(config, System.getenv());
    for (InferenceEndpoint endpoint : named) {
      say.accept("server %s %s".formatted(endpoint, describe(endpoint, needs)));
    }
    return new RunInferenceServers(
        Optional.of(
            InferenceServers.open(
                policy,
                named,
                plan(
                    config,
                    sidecars,
                    resolved,
                    InferenceServers.weights(folder),
                    SidecarSupervision.Settings::startingWithin),
                contents(config),
                folder,
                companions(config),
                ServerWeightFolder.WeightFileFinder.none(),
                broadcaster)));
  }

  /** An adapter may be read again as long as a request can sample with its version. */
  private static ServerWeightFolder.Contents contents(RunConfig config) {
    return switch (config.rollout().publish()) {
      case MERGED ->
          config.rollout().weights() == WeightRoute.NCCL
              ? ServerWeightFolder.Contents.broadcast()
              : ServerWeightFolder.Contents.merged(config.publishedType());
      case ADAPTERS ->
          new ServerWeightFolder.Contents(
              PublishedWeightForm.ADAPTERS,
              LoraSection.versionsInUse(config.training().maxStaleness()));
    };
  }

  private static LocalPolicy policy(RunConfig config, PolicyEngines engines) {
    return LocalPolicy.of(
        engines, config.rollout().kvOnSwap() == KvOnSwap.RECOMPUTE, tolerance(config));
  }

  /** A toy policy computes nothing with which a server could be compared. */
  private static OptionalDouble tolerance(RunConfig config) {
    RolloutSection rollout = config.rollout();
    if (!rollout.compareWeights() || config.policy() instanceof PolicySection.Toy) {
      return OptionalDouble.empty();
    }
    boolean exact =
        rollout.endpoints().urls().isEmpty()
            && (rollout.sidecars().server() == SidecarsSection.Server.TROUPE
                || rollout.sidecars().dtype().equals("float32"))
            && config.publishedType() == DType.F32;
    return OptionalDouble.of(exact ? SINGLE_PRECISION : ServedWeightsCheck.TOLERANCE);
  }

  private static String describe(InferenceEndpoint endpoint, ServerRequirements needs)
      throws IOException, InterruptedException {
    try (InferenceClient wire = new InferenceClient(endpoint)) {
      Capabilities can = CapabilityProbe.probe(wire);
      List<String> objections = can.objections(needs);
      if (!objections.isEmpty()) {
        throw new IOException(
            "rollout.endpoints: %s cannot be used: %s"
                .formatted(endpoint, String.join("; ", objections)));
      }
      return can.line(needs.publishing());
    } catch (InferenceCallException away) {
      throw new IOException(
          "rollout.endpoints: %s; look at it with: troupe doctor --endpoint %s"
              .formatted(away.getMessage(), endpoint),
          away);
    }
  }

  private static Sidecars.Starter starter(RunConfig config, Path resolved, Path weightFolder) {
    SidecarsSection own = config.rollout().sidecars();
    return switch (own.server()) {
      case TROUPE -> {
        int adapters = adapters(config, weightFolder).atOnce();
        yield (port, _) ->
            new ServerCommand(
                ownServerCommand(own.heap(), resolved, port, adapters),
                environment(),
                ServerCommand.TROUPE_KEY);
      }
      case VLLM ->
          (port, weights) ->
              ServerBroadcasts.receiving(
                  KeyOnEveryRoute.on(
                      ServerCommand.vllm(
                          load(config, weights, weightFolder), port, own.arguments()),
                      weightFolder.resolveSibling("middleware"),
                      System.getenv()),
                  config,
                  System.getenv());
      case SGLANG ->
          (port, weights) ->
              ServerCommand.sglang(load(config, weights, weightFolder), port, own.arguments());
      case COMMAND ->
          (port, weights) -> ServerCommand.custom(own.command(), port, model(config, weights));
    };
  }

  /**
   * Not on the command line, so that {@code ps} shows what a process is. Weights come and go there:
   * glibc would keep what a thread has freed for that thread's next ones, so that a process grew by
   * copies of the weights.
   */
  private static Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(ChildJvm.program().environment());
    environment.put("MALLOC_MMAP_THRESHOLD_", Integer.toString(1 << 20));
    return environment;
  }

  /** This program in a process of its own. */
  private static List<String> ownServerCommand(int heap, Path resolved, int port, int adapters) {
    List<String> properties =
        Stream.of("troupe.home", "ai.djl.offline")
            .flatMap(
                property ->
                    Optional.ofNullable(System.getProperty(property)).stream()
                        .map(value -> "-D%s=%s".formatted(property, value)))
            .toList();
    return ChildJvm.program()
        .heap(heap)
        .with(
            ChildJvm.WEIGHTS_UNBOUNDED, JavaCommand.EXIT_WITHOUT_HEAP, JavaCommand.SERIAL_COLLECTOR)
        .with(JavaCommand.BASIC)
        .with(properties)
        .with(ChildJvm.ofTheUser())
        .words(
            List.of(
                "serve",
                "--config",
                resolved.toString(),
                "--port",
                Integer.toString(port),
                "--max-adapters",
                Integer.toString(adapters)));
  }

  /** The directory that a server starts with: of the newest weights, or of the model. */
  private static String model(RunConfig config, Optional<Path> weights) {
    String own = config.rollout().sidecars().model();
    return weights
        .or(() -> own.isEmpty() ? checkpoint(config) : Optional.of(Path.of(own)))
        .map(Path::toString)
        .orElse("");
  }

  private static ServerCommand.Load load(
      RunConfig config, Optional<Path> weights, Path weightFolder) {
    SidecarsSection own = config.rollout().sidecars();
    return new ServerCommand.Load(
        model(config, weights),
        own.dtype(),
        own.tensorParallel(),
        own.memoryShare(),
        config.policy().contextLength(),
        adapters(config, weightFolder));
  }

  private static ServerCommand.Adapters adapters(RunConfig config, Path weightFolder) {
    return config.rollout().publishesAdapters()
            && config.policy() instanceof PolicySection.Pretrained pretrained
        ? pretrained.compute().lora().forServers(config.training().maxStaleness(), weightFolder)
        : ServerCommand.Adapters.NONE;
  }

  private static Optional<Path> checkpoint(RunConfig config) {
    return config.policy() instanceof PolicySection.Pretrained pretrained
        ? Optional.of(ModelCache.of(config.data(), _ -> {}).cachedFolder(pretrained.checkpoint()))
        : Optional.empty();
  }

  /** Servers of others want config.json and the tokenizer beside the tensors. */
  private static ServerWeightFolder.CompanionFiles companions(RunConfig config) {
    return directory -> {
      Optional<Path> checkpoint = checkpoint(config);
      if (checkpoint.isPresent()) {
        try (Stream<Path> files = Files.list(checkpoint.get())) {
          for (Path file : files.filter(Files::isRegularFile).toList()) {
            String name = String.valueOf(file.getFileName());
            if (TENSORS.stream().noneMatch(name::endsWith)) {
              Files.copy(file, directory.resolve(name));
            }
          }
        }
      }
    };
  }

  /**
   * Returns the samplers of workers: the servers for one, an engine of this process for each other.
   */
  public Supplier<SamplingEngine> samplers(PolicyEngines engines) {
    return () ->
        pool.filter(InferenceServers::isFree)
            .map(InferenceServers::newSampler)
            .orElseGet(engines::newSampler);
  }

  /** A worker's sampler is not used any more. */
  public void retired(SamplingEngine sampler) {
    pool.ifPresent(servers -> servers.release(sampler));
  }

  /** Returns the reason why a worker's server is given up, once it is. */
  public CompletionStage<String> allGivenUp() {
    return pool.map(InferenceServers::noServersLeft).orElseGet(CompletableFuture::new);
  }

  /** Returns the lines on what the servers did, for the end of a run. */
  public List<String> report() {
    return pool.map(servers -> List.of("servers " + servers.report())).orElse(List.of());
  }

  @Override
  public void close() {
    pool.ifPresent(InferenceServers::close);
  }
}
