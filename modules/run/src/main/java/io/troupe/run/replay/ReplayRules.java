package io.troupe.run.replay;

import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.util.Optional;

/** The runs that can be made again bit for bit. */
final class ReplayRules {
  private ReplayRules() {}

  /**
   * Refuses a run that cannot.
   *
   * @throws ReplayRefusedException says why
   */
  static void check(RunFolder folder, ReplayPlan plan, RunConfig config)
      throws ReplayRefusedException {
    Optional<String> objection = samplingObjection(config);
    if (objection.isPresent()) {
      throw new ReplayRefusedException(
          "%s %s; its training alone is made again where the run stored its tokens, by recording.tokens: 0"
              .formatted(folder.name(), objection.get()));
    }
    checkTraining(folder, config);
    for (RecordedItem item : plan.items()) {
      if (item instanceof RecordedItem.Scored(RecordedGroup group) && group.digests().isEmpty()) {
        throw new ReplayRefusedException(
            "the journal of %s has no digest of %s: a version of Troupe without replay wrote it"
                .formatted(folder.name(), group.summary().lease()));
      }
    }
  }

  /**
   * Refuses a run whose steps cannot be made again, even from stored tokens.
   *
   * @throws ReplayRefusedException says why
   */
  static void checkTraining(RunFolder folder, RunConfig config) throws ReplayRefusedException {
    Optional<String> objection = trainingObjection(config);
    if (objection.isPresent()) {
      throw new ReplayRefusedException(folder.name() + " " + objection.get());
    }
  }

  /** Whether a run cannot be sampled again, and stored the tokens of its steps. */
  static boolean onlyTrains(RunFolder folder, RecordedRun run) throws IOException {
    if (StepTokenFiles.sizes(folder.tokens()).isEmpty()) {
      return false;
    }
    for (RecordedItem item : run.items()) {
      if (item instanceof RecordedItem.Began began) {
        return samplingObjection(RunReplay.config(began.process().config())).isPresent();
      }
    }
    return false;
  }

  private static Optional<String> samplingObjection(RunConfig config) {
    if (config.rollout().usesServers()) {
      return Optional.of(
          "sampled by inference servers, whose bits depend on what they decoded together; only runs"
              + " of rollout.workers are made again");
    }
    if (config.episode().hasTurns()) {
      return Optional.of(
          "has episodes of several turns, whose tool results are not in the journal; only runs of single"
              + " answers are made again");
    }
    if (config.policy() instanceof PolicySection.Toy) {
      return Optional.of("has policy.engine: toy; only runs of djl engines are made again");
    }
    if (!config.rollout().batchInvariant()) {
      return Optional.of(
          "has rollout.batch_invariant: false, so that each completion's bits depend on what was"
              + " decoded beside it, which no journal holds");
    }
    return Optional.empty();
  }

  private static Optional<String> trainingObjection(RunConfig config) {
    if (config.distillation().hasTeacherServers()) {
      return Optional.of(
          "was taught by servers (distillation.teacher_urls), whose answers are not in the journal");
    }
    if (config.placement().ranksOnNodes()) {
      return Optional.of(
          "was trained by ranks on other nodes, which one process does not have; runs whose ranks"
              + " are threads or children of the coordinator are made again");
    }
    return Optional.empty();
  }
}
