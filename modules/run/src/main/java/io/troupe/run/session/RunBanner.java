package io.troupe.run.session;

import io.troupe.base.build.BuildInfo;
import io.troupe.config.RunConfig;
import io.troupe.engine.PolicyEngines;
import io.troupe.hosts.placement.Placement;
import io.troupe.run.compose.CheckpointFingerprint;
import io.troupe.run.compose.Composition;
import io.troupe.run.task.DataSummary;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The description of a run before it starts.
 *
 * @param workersHere rollout workers of this process
 */
public record RunBanner(
    Composition composition, RunFolder folder, ResumePoint resume, int workersHere) {
  /**
   * Returns the lines.
   *
   * @throws IOException if the checkpoint cannot be read
   */
  public List<String> lines(PolicyEngines engines) throws IOException {
    RunConfig config = composition.config();
    List<String> lines = new ArrayList<>();
    lines.add(
        "troupe %s · JDK %s · %s"
            .formatted(BuildInfo.version(), Runtime.version().feature(), engines.device()));
    lines.add("policy " + engines.describe());
    Optional<Path> checkpoint = composition.checkpointFolder();
    if (checkpoint.isPresent()) {
      lines.add(
          "model  %s · fingerprint %s"
              .formatted(checkpoint.get(), CheckpointFingerprint.of(checkpoint.get())));
    }
    lines.add(
        "task   %s: %,d prompts, %,d held out · seed %d"
            .formatted(
                composition.task().name(),
                composition.facts().trainingPrompts(),
                composition.facts().heldOutPrompts(),
                config.run().seed()));
    DataSummary.lines(config, composition.task(), composition.verifiers())
        .forEach(line -> lines.add("data   " + line));
    lines.add(
        "loop   %d groups of %s a step · max staleness %d (%s) · %s · %s"
            .formatted(
                config.training().groupsPerStep(),
                config.rollout().groupSize().range(),
                config.training().maxStaleness(),
                config.training().stale().name().toLowerCase(Locale.ROOT),
                workers(config),
                config.lockStep() ? "lock-step" : "asynchronous"));
    lines.add("run    " + folder.name());
    if (resume.again()) {
      lines.add("resume " + from());
    }
    return lines;
  }

  /** Nodes have as many as the placement says; without one, as their operators say. */
  private String workers(RunConfig config) {
    Optional<Placement> placed = config.placement().placement();
    if (placed.isPresent()) {
      return count(placed.get().workers(), "rollout worker")
          + " on "
          + count(config.placement().nodes(), "node");
    }
    int all = config.rollout().allWorkers();
    return workersHere == all ? count(all, "rollout worker") : "rollout workers on the nodes";
  }

  private static String count(int number, String what) {
    return "%d %s%s".formatted(number, what, number == 1 ? "" : "s");
  }

  private String from() {
    if (resume.checkpoint().isEmpty()) {
      return "from the start: the run has no checkpoint yet";
    }
    long step = resume.checkpoint().get().state().version().number();
    return resume.stepsLost() == 0
        ? "from step %d".formatted(step)
        : "from step %d; %d later step%s ended with their process and are made again"
            .formatted(step, resume.stepsLost(), resume.stepsLost() == 1 ? "" : "s");
  }
}
