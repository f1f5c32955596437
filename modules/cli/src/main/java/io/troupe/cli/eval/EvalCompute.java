package io.troupe.cli.eval;

import io.troupe.chat.Thinking;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.evaluation.EndpointAnswers;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of what samples. */
final class EvalCompute {
  @Option(
      names = "--context-length",
      paramLabel = "TOKENS",
      description =
          "Of a checkpoint without a run: most tokens of prompt and completion together (default:"
              + " ${DEFAULT-VALUE}, or the checkpoint's limit if that is lower).")
  int contextLength = 4096;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Of a checkpoint without a run: PyTorch's threads (default: ${DEFAULT-VALUE}).")
  int threads = 1;

  @Option(
      names = "--thinking",
      paramLabel = "true|false",
      description =
          "Whether the policy thinks before its answers (default: the run's policy.thinking; of a"
              + " checkpoint without a run false).")
  private @Nullable Boolean thinking;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "Of --endpoint: the policy's name there; default: the first that it lists.")
  @Nullable String model;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Of --endpoint: requests at a time to each server (default: ${DEFAULT-VALUE}).")
  int requests = 64;

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description =
          "Of --endpoint: file with the key that requests carry. Without it, the variable"
              + " TROUPE_SERVE_KEY of the environment is the key, if it is set.")
  @Nullable Path keyFile;

  @Option(
      names = "--in-process",
      description =
          "Of a run with rollout.sidecars: samples in this process, as the run's own evaluations"
              + " do, and starts no servers.")
  boolean inProcess;

  /**
   * Returns the compute settings for samples of this process, whatever samples the run's rollouts.
   */
  static EvalCompute ofThisProcess() {
    EvalCompute compute = new EvalCompute();
    compute.inProcess = true;
    return compute;
  }

  /** The choice of thinking. */
  Thinking thinking() {
    return thinking == null ? Thinking.AUTO : Thinking.of(thinking);
  }

  /** The key of the servers; empty means none. */
  String key() throws IOException {
    return keyFile == null
        ? Optional.ofNullable(System.getenv(ServerCommand.TROUPE_KEY)).orElse("")
        : Files.readString(keyFile).strip();
  }

  /** The policy's name at the servers. */
  String model(URI server) throws IOException, InterruptedException {
    return model == null ? EndpointAnswers.onlyModel(server, key()) : model;
  }
}
