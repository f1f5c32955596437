package io.troupe.run.compose;

import io.troupe.accelerator.nccl.AcceleratorException;
import io.troupe.accelerator.nccl.AcceleratorLibraries;
import io.troupe.accelerator.nccl.AcceleratorLibraries.Search;
import io.troupe.base.process.SearchPath;
import io.troupe.config.RunConfig;
import io.troupe.engine.http.broadcast.WeightBroadcaster;
import io.troupe.engine.http.broadcast.WeightBroadcaster.BroadcastSettings;
import io.troupe.engine.http.broadcast.WeightRoute;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.engine.parallel.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The broadcasts of weights to a run's inference servers, where the configuration asks for them.
 */
final class ServerBroadcasts {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final long MEBIBYTE = 1L << 20;
  private static final List<String> ENVIRONMENTS = List.of("TROUPE_TORCH", "VIRTUAL_ENV");

  private ServerBroadcasts() {}

  /**
   * Opens NCCL and the GPU for broadcasts; empty where servers read files.
   *
   * @param variables of the process's environment
   * @throws IOException if there is no NCCL or no GPU; says what to do
   */
  static Optional<WeightBroadcaster> open(RunConfig config, Map<String, String> variables)
      throws IOException {
    return config.rollout().weights() == WeightRoute.FILES
        ? Optional.empty()
        : Optional.of(broadcaster(config, variables));
  }

  private static WeightBroadcaster broadcaster(RunConfig config, Map<String, String> variables)
      throws IOException {
    try {
      return new WeightBroadcaster(
          new BroadcastSettings(
              found(config, variables).open(),
              0,
              InetAddress.getLoopbackAddress(),
              config.rollout().sidecars().dtype().equals("float32")
                  ? Span.Element.F32
                  : Span.Element.BF16,
              config.rollout().transferBuffer() * MEBIBYTE,
              DEADLINE));
    } catch (AcceleratorException unusable) {
      throw refused(unusable.getMessage() + "; look at the GPUs with `nvidia-smi`");
    }
  }

  private static Search.Found found(RunConfig config, Map<String, String> variables)
      throws IOException {
    return switch (AcceleratorLibraries.find(environments(config, variables), variables)) {
      case Search.Found found -> found;
      case Search.Missing(String reason) -> throw refused(reason);
    };
  }

  private static IOException refused(String reason) {
    return new IOException(
        "rollout.weights: nccl cannot be used: %s; or set rollout.weights: files"
            .formatted(reason));
  }

  /** The environment of the servers first: they and this process must load one NCCL. */
  private static List<Path> environments(RunConfig config, Map<String, String> variables) {
    List<Path> environments = new ArrayList<>();
    List<String> command = config.rollout().sidecars().command();
    if (!command.isEmpty()) {
      AcceleratorLibraries.environmentOf(Path.of(command.getFirst())).ifPresent(environments::add);
    }
    for (String program : List.of("vllm", "python3")) {
      SearchPath.find(program, variables)
          .flatMap(AcceleratorLibraries::environmentOf)
          .ifPresent(environments::add);
    }
    for (String variable : ENVIRONMENTS) {
      Optional.ofNullable(variables.get(variable)).map(Path::of).ifPresent(environments::add);
    }
    return environments.stream().distinct().toList();
  }

  /** Returns a started vLLM's command with the same NCCL and its weight transfer engine. */
  static ServerCommand receiving(
      ServerCommand vllm, RunConfig config, Map<String, String> variables) {
    if (config.rollout().weights() == WeightRoute.NCCL
        && AcceleratorLibraries.find(environments(config, variables), variables)
            instanceof Search.Found found) {
      List<String> words = new ArrayList<>(vllm.words());
      words.addAll(List.of("--weight-transfer-config", "{\"backend\":\"nccl\"}"));
      return new ServerCommand(words, vllm.environment(), vllm.keyVariable())
          .with(AcceleratorLibraries.NCCL_VARIABLE, found.nccl().toString());
    }
    return vllm;
  }
}
