package io.troupe.app;

import io.troupe.app.config.RunConfig;
import io.troupe.engine.PolicyEngines;
import io.troupe.store.RunFolder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a run says of itself before it starts. */
record Banner(Composition composition, RunFolder folder, ResumePoint resume) {
  List<String> lines(PolicyEngines engines) {
    RunConfig config = composition.config();
    List<String> lines = new ArrayList<>();
    lines.add(
        "troupe %s · JDK %s · %s"
            .formatted(Build.version(), Runtime.version().feature(), engines.device()));
    lines.add("policy " + engines.describe());
    lines.add(
        "task   %s: %,d prompts, %,d held out · seed %d"
            .formatted(
                composition.task().name(),
                composition.facts().trainingPrompts(),
                composition.facts().heldOutPrompts(),
                config.run().seed()));
    lines.add(
        "loop   %d groups of %d a step · max staleness %d (%s) · %d rollout worker%s · %s"
            .formatted(
                config.training().groupsPerStep(),
                config.rollout().completionsPerPrompt(),
                config.training().maxStaleness(),
                config.training().stale().name().toLowerCase(Locale.ROOT),
                config.rollout().allWorkers(),
                config.rollout().allWorkers() == 1 ? "" : "s",
                config.lockStep() ? "lock-step" : "asynchronous"));
    lines.add("run    " + folder.name());
    if (resume.again()) {
      lines.add("resume " + from());
    }
    return lines;
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
