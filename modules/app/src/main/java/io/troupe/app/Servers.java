package io.troupe.app;

import io.troupe.app.config.PolicySection;
import io.troupe.app.config.RunConfig;
import io.troupe.app.config.SidecarsSection;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.http.Capabilities;
import io.troupe.engine.http.CapabilityProbe;
import io.troupe.engine.http.Endpoint;
import io.troupe.engine.http.EndpointException;
import io.troupe.engine.http.HttpPool;
import io.troupe.engine.http.WeightShelf;
import io.troupe.engine.http.Wire;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.engine.http.sidecar.Sidecars;
import io.troupe.engine.http.sidecar.Supervision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The inference servers of a run, if it has any. */
final class Servers implements AutoCloseable {
  private static final List<String> TENSORS = List.of(".safetensors", ".safetensors.index.json");

  private final Optional<HttpPool> pool;

  private Servers(Optional<HttpPool> pool) {
    this.pool = pool;
  }

  /**
   * Looks at the named servers, and starts the others.
   *
   * @param resolved the run's configuration, which a sidecar of ours reads
   * @param folder for weights, logs and pids
   * @throws IOException if a named server cannot do what a rollout needs; says what to start it
   *     with
   */
  static Servers open(
      RunConfig config, PolicyEngines engines, Path resolved, Path folder, Consumer<String> say)
      throws IOException, InterruptedException {
    if (!config.rollout().usesServers()) {
      return new Servers(Optional.empty());
    }
    List<Endpoint> named = config.rollout().endpoints().endpoints();
    for (Endpoint endpoint : named) {
      say.accept("server %s %s".formatted(endpoint, look(endpoint).line()));
    }
    SidecarsSection own = config.rollout().sidecars();
    Sidecars.Plan plan =
        new Sidecars.Plan(
            own.count(),
            own.concurrency(),
            Endpoint.Patience.DEFAULT,
            Supervision.Settings.startingWithin(own.startTimeout()),
            command(config, resolved));
    return new Servers(
        Optional.of(
            HttpPool.open(
                engines.tokenizer(),
                engines.contextLength(),
                named,
                plan,
                folder,
                companions(config))));
  }

  private static Capabilities look(Endpoint endpoint) throws IOException, InterruptedException {
    try (Wire wire = new Wire(endpoint)) {
      Capabilities can = CapabilityProbe.probe(wire);
      if (!can.objections().isEmpty()) {
        throw new IOException(
            "rollout.endpoints: %s cannot be used: %s"
                .formatted(endpoint, String.join("; ", can.objections())));
      }
      return can;
    } catch (EndpointException away) {
      throw new IOException(
          "rollout.endpoints: %s; look at it with: troupe doctor --endpoint %s"
              .formatted(away.getMessage(), endpoint),
          away);
    }
  }

  private static IntFunction<ServerCommand> command(RunConfig config, Path resolved) {
    SidecarsSection own = config.rollout().sidecars();
    return switch (own.server()) {
      case TROUPE -> port -> new ServerCommand(ours(own.heap(), resolved, port), Map.of());
      case VLLM -> port -> ServerCommand.vllm(load(config), port, own.arguments());
      case SGLANG -> port -> ServerCommand.sglang(load(config), port, own.arguments());
      case COMMAND -> port -> ServerCommand.custom(own.command(), port);
    };
  }

  /** This program in a process of its own. */
  private static List<String> ours(int heap, Path resolved, int port) {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx%dm".formatted(heap),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow"));
    for (String property : List.of("troupe.home", "ai.djl.offline")) {
      Optional.ofNullable(System.getProperty(property))
          .ifPresent(value -> words.add("-D%s=%s".formatted(property, value)));
    }
    words.addAll(
        List.of(
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            Main.class.getName(),
            "serve",
            "--config",
            resolved.toString(),
            "--port",
            Integer.toString(port),
            "--with-parent",
            Long.toString(ProcessHandle.current().pid())));
    return words;
  }

  private static ServerCommand.Load load(RunConfig config) {
    SidecarsSection own = config.rollout().sidecars();
    return new ServerCommand.Load(
        own.model().isEmpty() ? checkpoint(config).map(Path::toString).orElse("") : own.model(),
        own.dtype(),
        own.tensorParallel(),
        own.memoryShare(),
        config.policy().contextLength());
  }

  private static Optional<Path> checkpoint(RunConfig config) {
    return config.policy() instanceof PolicySection.Pretrained pretrained
        ? Optional.of(pretrained.checkpoint())
        : Optional.empty();
  }

  /** Servers of others want config.json and the tokenizer beside the tensors. */
  private static WeightShelf.Companions companions(RunConfig config) {
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

  /** Who samples for a worker: the servers for one, an engine of this process for each other. */
  Supplier<SamplingEngine> samplers(PolicyEngines engines) {
    return () ->
        pool.filter(HttpPool::isFree).map(HttpPool::newSampler).orElseGet(engines::newSampler);
  }

  /** What they did, for the end of a run. */
  List<String> report() {
    return pool.map(servers -> List.of("servers " + servers.report())).orElse(List.of());
  }

  @Override
  public void close() {
    pool.ifPresent(HttpPool::close);
  }
}
