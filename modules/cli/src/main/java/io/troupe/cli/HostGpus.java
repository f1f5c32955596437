package io.troupe.cli;

import io.troupe.config.RunConfig;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchSelection;
import io.troupe.run.cluster.LocalNodeAgent;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.CoordinatorGpus;
import io.troupe.run.compose.GpuOption;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * GPUs of this host that a run is placed on by {@code --gpus}: the coordinator sees its own of them
 * and no others, and a node agent has the rest.
 *
 * @param option of the command; auto where it names none
 * @param agent started with the run; none without the option
 * @param say takes lines for the operator
 */
record HostGpus(String option, Optional<LocalNodeAgent> agent, Consumer<String> say)
    implements AutoCloseable {
  private static final String ALL = "auto";

  /** The placement of a run on the GPUs that an option names. */
  static List<String> overrides(String option) {
    return List.of("placement.nodes=1", "placement.gpus_per_node=" + GpuOption.count(option));
  }

  /**
   * Checks that the run's PyTorch can use GPUs, if the option lists some.
   *
   * @throws UnsupportedPolicyException if it cannot; names the next command
   */
  static void check(@Nullable String option, Composition composition)
      throws UnsupportedPolicyException {
    if (option == null || !GpuOption.isList(option)) {
      return;
    }
    if (!composition.config().policy().wantsGpu()) {
      throw new UnsupportedPolicyException(
          "--gpus %s: policy.device is %s, so the run would use none of them; set policy.device: cuda, or leave --gpus out"
              .formatted(option, composition.config().policy().computesOn()));
    }
    Optional<InstalledTorch> torch = TorchSelection.chosen();
    if (torch.filter(found -> !found.cuda().isEmpty()).isEmpty()) {
      throw new UnsupportedPolicyException(
          "--gpus %s: %s is built for CPUs; `troupe torch list` shows the PyTorches of this machine, `troupe torch build ENV` makes the binding of one with CUDA (such as vLLM's environment), and policy.torch: ENV, or TROUPE_TORCH=ENV, chooses it"
              .formatted(
                  option, torch.map(InstalledTorch::toString).orElse("DJL's own PyTorch 2.7.1")));
    }
  }

  static HostGpus of(@Nullable String option, Path run, Consumer<String> say) {
    return option == null
        ? new HostGpus(ALL, Optional.empty(), say)
        : new HostGpus(option, Optional.of(new LocalNodeAgent(run, option, say)), say);
  }

  /** Claims what the coordinator computes on, before anything uses CUDA. */
  CoordinatorGpus.ComputeDevices claim(RunConfig config, RunFolder folder, boolean handed)
      throws IOException {
    return CoordinatorGpus.ofProcess(config, folder, option, handed, say);
  }

  /** Starts the node agent, if there is to be one. */
  void start(List<String> network) throws IOException {
    if (agent.isPresent()) {
      agent.get().start(network);
    }
  }

  @Override
  public void close() {
    agent.ifPresent(LocalNodeAgent::close);
  }
}
