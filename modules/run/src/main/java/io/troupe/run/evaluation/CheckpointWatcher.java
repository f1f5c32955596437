package io.troupe.run.evaluation;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildSpec;
import io.troupe.config.RunConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.hosts.placement.Placement;
import io.troupe.run.child.RestartedChild;
import io.troupe.run.compose.GpuOption;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * The process that evaluates the checkpoints of a run while the run continues: {@code troupe eval
 * watch}, on the GPU that the placement has for it. The run starts it, starts it again when it
 * ends, and waits for it at its own end only.
 */
public final class CheckpointWatcher implements AutoCloseable {
  private static final String NAME = "watcher";
  private static final String VISIBLE = "CUDA_VISIBLE_DEVICES";

  /** For the checkpoints that are left when the run is complete. */
  private static final Duration LAST_CHECKPOINTS = Duration.ofMinutes(5);

  private final RunConfig config;
  private final RunFolder run;
  private final String gpus;
  private final Consumer<String> say;
  private final Optional<RestartedChild> child;

  private CheckpointWatcher(RunConfig config, RunFolder run, String gpus, Consumer<String> say) {
    this.config = config;
    this.run = run;
    this.gpus = gpus;
    this.say = say;
    this.child =
        config.placement().evaluationGpus() == 0
            ? Optional.empty()
            : Optional.of(new RestartedChild(NAME, "the watcher of checkpoints", say));
  }

  /**
   * Checks the file of tasks that a run's watcher asks.
   *
   * @throws io.troupe.config.binding.ConfigurationException with everything wrong with it
   */
  public static void check(RunConfig config) {
    String file = config.evaluation().watchFile();
    if (config.placement().evaluationGpus() > 0 && !file.isEmpty()) {
      EvaluationFile.load(Path.of(file), List.of());
    }
  }

  /**
   * Starts the watcher of a run, if its placement has one.
   *
   * @param gpus GPUs of this host that the run has, as {@code --gpus} says it
   * @param say takes lines for the operator
   */
  public static CheckpointWatcher start(
      RunConfig config, RunFolder run, String gpus, Consumer<String> say) throws IOException {
    CheckpointWatcher watcher = new CheckpointWatcher(config, run, gpus, say);
    if (watcher.child.isPresent()) {
      Files.createDirectories(watcher.output());
      watcher.child.get().start(watcher::next);
      say.accept(
          "watch   checkpoints are evaluated by a process %s (log: %s)"
              .formatted(watcher.place(), watcher.log()));
    }
    return watcher;
  }

  private Path output() {
    return run.path().toAbsolutePath().normalize().resolve("evaluations").resolve("watch");
  }

  private Path log() {
    return output().resolve("watch.log");
  }

  private OptionalInt gpu() {
    Optional<Placement> placement = config.placement().placement();
    return config.policy().wantsGpu() && placement.isPresent()
        ? placement.get().evaluationGpu()
        : OptionalInt.empty();
  }

  private String place() {
    OptionalInt gpu = gpu();
    return gpu.isPresent() ? "on GPU %d of the placement".formatted(gpu.getAsInt()) : "on the CPU";
  }

  /** The GPU is claimed for each start, because another process may use it by now. */
  private ChildSpec next() throws IOException {
    List<String> command = new ArrayList<>(ChildJvm.command(config.cluster().workerHeap()));
    command.addAll(arguments());
    command.add("--with-parent");
    Map<String, String> environment = ChildJvm.environment();
    environment.put(VISIBLE, visible());
    // Relative paths in the configuration are relative to where the run was started.
    return new ChildSpec(NAME, command, environment, Path.of("").toAbsolutePath(), log());
  }

  private List<String> arguments() {
    List<String> words = new ArrayList<>(List.of("eval", "watch"));
    words.add(run.path().toAbsolutePath().normalize().toString());
    if (!config.evaluation().watchFile().isEmpty()) {
      words.add(config.evaluation().watchFile());
    }
    words.addAll(List.of("--every", Integer.toString(config.evaluation().watchEvery())));
    words.addAll(List.of("-o", output().toString()));
    return words;
  }

  /** Returns the GPUs of this host that the process sees; empty where it computes on the CPU. */
  private String visible() throws IOException {
    OptionalInt own = gpu();
    Optional<NodeGpus> host =
        own.isPresent() ? GpuOption.gpus(gpus, run.path().resolve("cluster")) : Optional.empty();
    return host.isPresent()
        ? host.get().claim(List.of(own.getAsInt())).stream()
            .map(Gpu::visible)
            .findFirst()
            .orElse("")
        : "";
  }

  /**
   * The run has ended. Of a complete one the watcher evaluates the checkpoints that are left, for a
   * bounded time; of another one it continues when the run is resumed.
   */
  public void end(boolean complete) {
    if (child.isEmpty()) {
      return;
    }
    if (!complete) {
      child.get().close();
      return;
    }
    child.get().start(this::next); // It may wait for its next start.
    Optional<Integer> code = child.get().finish(LAST_CHECKPOINTS);
    say.accept(
        code.filter(each -> each == 0).isPresent()
            ? "watch   %s".formatted(output().resolve("results.csv"))
            : "watch   not all checkpoints are evaluated: troupe %s --once"
                .formatted(String.join(" ", arguments())));
  }

  /** Ends the process at once, unless it has ended. */
  @Override
  public void close() {
    child.ifPresent(RestartedChild::close);
  }
}
