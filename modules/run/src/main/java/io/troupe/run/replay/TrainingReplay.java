package io.troupe.run.replay;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.run.compose.Composition;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Makes the steps of a run again from the tokens that it stored, whatever sampled them: inference
 * servers, agents, GPUs.
 *
 * <p>The journal vouches for the tokens: it has the groups of each batch in their order, a digest
 * of every completion, the versions of its tokens, and its reward. So a stored token that is not
 * the sampled one is found before the step that it would change, and weights that differ although
 * all of that is equal are the trainer's.
 */
final class TrainingReplay implements AutoCloseable {
  private static final long REPORT_NANOS = Duration.ofSeconds(2).toNanos();
  private static final int NAMED_STEPS = 3;

  private final RunFolder folder;
  private final ReplayPlan plan;
  private final Map<LeaseId, RecordedGroup> recorded;
  private final ReplayedTrainer trainer;
  private final Consumer<String> say;
  private ReplayReport.Equal equal = new ReplayReport.Equal(0, 0, 0, 0);
  private long unvouched;

  private TrainingReplay(
      RunFolder folder,
      ReplayPlan plan,
      Map<LeaseId, RecordedGroup> recorded,
      Composition composition,
      Consumer<String> say)
      throws IOException {
    this.folder = folder;
    this.plan = plan;
    this.recorded = recorded;
    this.say = say;
    this.trainer = new ReplayedTrainer(folder, plan, composition, say);
  }

  /**
   * Replays the training of a run.
   *
   * @param run of its journal
   * @throws ReplayRefusedException if tokens are not stored, or the bits would differ here
   */
  static ReplayReport of(
      RunFolder folder, RecordedRun run, ReplaySettings settings, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    long start = System.nanoTime();
    try (TrainingReplay replay = open(folder, run, settings, say)) {
      Optional<ReplayDifference> difference = replay.run();
      return new ReplayReport(
          folder.name(),
          replay.plan.version().number(),
          true,
          replay.remarks(),
          replay.equal,
          0,
          Duration.ofNanos(System.nanoTime() - start),
          difference);
    }
  }

  /**
   * The tokens of a completion as its step saw them, as {@link RunReplay#tokens} has them of a run
   * that is sampled again.
   *
   * @throws ReplayRefusedException if the replay could not have the bits of the run, or has not
   */
  static List<ExplainedToken> tokens(
      RunFolder folder,
      RecordedRun run,
      long step,
      int row,
      TokenVersions versions,
      Consumer<String> say)
      throws IOException, ReplayRefusedException {
    ReplaySettings settings = new ReplaySettings(step - 1, step, false, true);
    try (TrainingReplay replay = open(folder, run, settings, say)) {
      replay.trainer.explain(step);
      ReplayDifference.refuse(folder, replay.run());
      return replay.trainer.explained(row, versions);
    }
  }

  private static TrainingReplay open(
      RunFolder folder, RecordedRun run, ReplaySettings settings, Consumer<String> say)
      throws IOException, ReplayRefusedException {
    ReplayPlan plan = ReplayPlan.ofTraining(folder, run, settings);
    requireTokens(folder, plan);
    Composition composition = RunReplay.composition(folder, plan.begin().process().config());
    ReplayRules.checkTraining(folder, composition.config());
    Map<LeaseId, RecordedGroup> recorded = new HashMap<>();
    for (RecordedItem item : run.items()) {
      if (item instanceof RecordedItem.Scored(RecordedGroup group)) {
        recorded.put(group.summary().lease(), group);
      }
    }
    TrainingReplay replay = new TrainingReplay(folder, plan, recorded, composition, say);
    try {
      replay.trainer.compareMachines(settings.anyway());
      return replay;
    } catch (ReplayRefusedException otherwise) {
      replay.close();
      throw otherwise;
    }
  }

  private static void requireTokens(RunFolder folder, ReplayPlan plan)
      throws IOException, ReplayRefusedException {
    Set<Long> missing = new TreeSet<>();
    for (RecordedItem item : plan.items()) {
      if (item instanceof RecordedItem.Trained(long step, var _, var _, var _)) {
        missing.add(step);
      }
    }
    Set<Long> stored = StepTokenFiles.sizes(folder.tokens()).keySet();
    missing.removeAll(stored);
    if (!missing.isEmpty()) {
      throw new ReplayRefusedException(
          "training is made again from stored tokens, and %s has none of %s: recording.tokens was -1 then, or"
                  .formatted(folder.name(), named(missing))
              + " its bound dropped them"
              + (stored.isEmpty()
                  ? "; a run with recording.tokens: 0 keeps all"
                  : "; begin at a checkpoint behind them with --from (%s), or end before them with --to"
                      .formatted(ReplayPlan.checkpoints(folder).keySet())));
    }
  }

  private static String named(Set<Long> steps) {
    List<Long> first = steps.stream().limit(NAMED_STEPS).toList();
    String list = String.join(", ", first.stream().map(String::valueOf).toList());
    return steps.size() == 1
        ? "step " + list
        : "steps %s%s".formatted(list, steps.size() > NAMED_STEPS ? ", …" : "");
  }

  private List<String> remarks() {
    if (unvouched > 0) {
      trainer
          .remarks()
          .add(
              "the journal has dropped what it had of %,d groups, whose tokens are compared with nothing"
                  .formatted(unvouched));
    }
    return trainer.remarks();
  }

  private Optional<ReplayDifference> run() throws IOException {
    Optional<ReplayDifference> difference =
        ReplayedTrainer.difference(trainer.prepare().snapshot(), plan.digest(), "it begins there");
    long reported = System.nanoTime();
    for (int i = 0; i < plan.items().size() && difference.isEmpty(); i++) {
      switch (plan.items().get(i)) {
        case RecordedItem.Began began -> trainer.began(began);
        case RecordedItem.Trained(long step, List<LeaseId> batch, var _, String digest) ->
            difference = trained(step, batch, digest);
        // A skipped step has left everything as it was.
        case RecordedItem.Scored _, RecordedItem.Skipped _ -> {}
      }
      if (System.nanoTime() - reported > REPORT_NANOS) {
        reported = System.nanoTime();
        say.accept(
            "%s, %,d groups, %,d tokens equal so far"
                .formatted(trainer.version(), equal.groups(), equal.tokens()));
      }
    }
    return difference;
  }

  private Optional<ReplayDifference> trained(long step, List<LeaseId> batch, String digest)
      throws IOException {
    List<ScoredGroup> groups = StepTokenFiles.read(folder.tokens(), step);
    StoredTokens stored =
        new StoredTokens(folder, step, trainer.engines().tokenizer(), trainer.pool());
    Optional<ReplayDifference> difference = stored.compareBatch(batch, groups);
    for (int i = 0; i < groups.size() && difference.isEmpty(); i++) {
      RecordedGroup own = recorded.get(groups.get(i).lease());
      if (own == null) {
        unvouched++;
      } else {
        difference = stored.compare(own, groups.get(i));
      }
    }
    if (difference.isPresent()) {
      return difference;
    }
    return switch (trainer.step(step, groups)) {
      case TrainerTasks.WeightsKept(String reason, boolean _) ->
          Optional.of(ReplayedTrainer.notMoved(step, reason));
      case TrainerTasks.WeightsUpdated updated -> {
        count(groups);
        yield ReplayedTrainer.difference(
            updated.snapshot(), digest, "what the journal has of its batch is equal");
      }
    };
  }

  private void count(List<ScoredGroup> groups) {
    equal =
        new ReplayReport.Equal(
            equal.steps() + 1,
            equal.groups() + groups.size(),
            equal.completions()
                + groups.stream().mapToLong(group -> group.completions().size()).sum(),
            equal.tokens() + groups.stream().mapToLong(group -> group.summary().tokens()).sum());
  }

  @Override
  public void close() {
    trainer.close();
  }
}
