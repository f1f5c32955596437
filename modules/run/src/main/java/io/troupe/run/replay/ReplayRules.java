package io.troupe.run.replay;

import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.store.folder.RunFolder;
import java.util.Optional;

/** Which runs can be made again bit for bit. */
final class ReplayRules {
  private ReplayRules() {}

  /**
   * Refuses a run that cannot.
   *
   * @throws ReplayRefusedException says why
   */
  static void check(RunFolder folder, ReplayPlan plan, RunConfig config)
      throws ReplayRefusedException {
    Optional<String> objection = objection(config);
    if (objection.isPresent()) {
      throw new ReplayRefusedException(folder.name() + " " + objection.get());
    }
    for (RecordedItem item : plan.items()) {
      if (item instanceof RecordedItem.Scored(RecordedGroup group) && group.digests().isEmpty()) {
        throw new ReplayRefusedException(
            "the journal of %s has no digest of %s: a version of Troupe without replay wrote it"
                .formatted(folder.name(), group.summary().lease()));
      }
    }
  }

  private static Optional<String> objection(RunConfig config) {
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
