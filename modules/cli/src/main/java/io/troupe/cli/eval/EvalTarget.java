package io.troupe.cli.eval;

import io.troupe.chat.Thinking;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.run.model.ModelName;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the policy that the argument WHAT of {@code troupe eval} names.
 *
 * @param contextLength of a checkpoint without a run
 * @param threads of a checkpoint without a run
 * @param thinking {@link Thinking#AUTO} means the run's, or none
 * @param models by their names
 */
record EvalTarget(int contextLength, int threads, Thinking thinking, ModelFolders models) {
  /** The place of models that WHAT names as {@code policy.checkpoint} would. */
  @FunctionalInterface
  interface ModelFolders {
    /** The folder of a model, which is fetched if need be. */
    Path folder(String name) throws IOException;
  }

  private static final Pattern VERSION = Pattern.compile("(.+)@v(\\d{1,18})");
  private static final Pattern STEP = Pattern.compile("step(\\d{1,18})");
  private static final Path RUNS = Path.of("runs");

  /**
   * The policy.
   *
   * @param sampled whether this process samples
   */
  EvaluatedPolicy policy(Optional<String> what, boolean sampled) throws IOException {
    if (what.isEmpty()) {
      if (thinking != Thinking.AUTO) {
        throw new UnsupportedPolicyException(
            "--thinking: prompts of conversations need the policy's chat template; name a run or a"
                + " checkpoint beside --endpoint, or leave it out");
      }
      return EvaluatedPolicy.ofServers();
    }
    if (isModelName(what.get())) {
      return EvaluatedPolicy.ofCheckpoint(
          what.get(), models.folder(what.get()), contextLength, threads, thinking);
    }
    Matcher version = VERSION.matcher(what.get());
    if (version.matches()) {
      return ofRun(
          run(version.group(1)), OptionalLong.of(Long.parseLong(version.group(2))), sampled);
    }
    Path path = Path.of(what.get()).toAbsolutePath().normalize();
    Optional<EvaluatedPolicy> ofCheckpoint = checkpointOfRun(path, sampled);
    if (ofCheckpoint.isPresent()) {
      return ofCheckpoint.get();
    }
    if (Files.isRegularFile(path.resolve("config.json"))) {
      return EvaluatedPolicy.ofCheckpoint(path, contextLength, threads, thinking);
    }
    return ofRun(run(what.get()), OptionalLong.empty(), sampled);
  }

  /** A text that begins with a folder of this machine is a path, and not a name on the hub. */
  private static boolean isModelName(String what) {
    return switch (ModelName.parse(what)) {
      case ModelName.ObjectStore _ -> true;
      case ModelName.Repository _ -> !Files.isDirectory(Path.of(what).resolveSibling(""));
      case ModelName.Folder _ -> false;
    };
  }

  /** A supervised run has no rows to ask: its policy is a checkpoint. */
  EvaluatedPolicy ofRun(RunFolder run, OptionalLong step, boolean sampled) throws IOException {
    return run.isSupervised()
        ? EvaluatedPolicy.ofCheckpoint(
            EvaluatedPolicy.checkpoint(run, step).resolve(TrainerTasks.POLICY_FOLDER),
            contextLength,
            threads,
            thinking == Thinking.AUTO ? taught(run) : thinking)
        : EvaluatedPolicy.ofRun(run, step, sampled, thinking);
  }

  private static Thinking taught(RunFolder run) {
    return SupervisedConfig.load(run.resolved(), List.of()).config().policy().thinking();
  }

  /** A checkpoint's folder within a run, or the policy's folder in it. */
  private Optional<EvaluatedPolicy> checkpointOfRun(Path path, boolean sampled) throws IOException {
    for (Path folder = path; folder != null; folder = folder.getParent()) {
      Matcher step = STEP.matcher(String.valueOf(folder.getFileName()));
      Path checkpoints = folder.getParent();
      if (step.matches() && checkpoints != null && Files.isDirectory(folder)) {
        Path run = checkpoints.getParent();
        if (run != null && Files.isRegularFile(run.resolve("run.json"))) {
          return Optional.of(
              ofRun(
                  RunFolder.view(RUNS, run.toString()),
                  OptionalLong.of(Long.parseLong(step.group(1))),
                  sampled));
        }
      }
    }
    return Optional.empty();
  }

  static RunFolder run(String name) throws UnsupportedPolicyException {
    try {
      return RunFolder.view(RUNS, name);
    } catch (IOException absent) {
      throw new UnsupportedPolicyException(String.valueOf(absent.getMessage()), absent);
    }
  }
}
