package io.troupe.run.replay;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.replay.RecordedItem;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.run.compose.Composition;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.TrainerTasks;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.RowQueue;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The trainer of a run, which makes its steps again: under the settings of the process that made
 * each, from the beginning or a checkpoint. The digests of the weights in the journal say where the
 * two part.
 */
public final class ReplayedTrainer implements AutoCloseable {
  private final RunFolder folder;
  private final ReplayPlan plan;
  private final Composition composition;
  private final EngineRegistry room;
  private final List<String> remarks = new ArrayList<>();
  private String config;
  private PromptPool pool;
  private RunSettings settings;
  private TrainerTasks tasks;
  private WeightVersion version;
  private Optional<WeightSnapshot> newest = Optional.empty();
  private long explainedStep;
  private Optional<TrainerTasks.StepTokens> explained = Optional.empty();

  /** A trainer that has made nothing yet, with the engines of this process. */
  ReplayedTrainer(RunFolder folder, ReplayPlan plan, Composition composition, Consumer<String> say)
      throws IOException {
    this.folder = folder;
    this.plan = plan;
    this.composition = composition;
    this.config = plan.begin().process().config();
    this.version = plan.version();
    this.pool = composition.pool();
    this.settings = composition.settings();
    this.room =
        new EngineRegistry(composition.engines(folder, List.of(), Optional.empty(), say::accept));
    this.tasks =
        new TrainerTasks(
            room,
            settings,
            pool,
            Checkpoints.view(folder.checkpoints()),
            StepTokenFiles.off(),
            plan.checkpoint()
                .map(
                    path ->
                        new TrainerTasks.Resume(
                            path, RunState.INITIAL.version(version), RowQueue.EMPTY)),
            warmup -> say.accept("warm-up step %d".formatted(warmup.step())));
  }

  /** Has what a step sees of its tokens kept for {@link #explained}. */
  void explain(long step) {
    explainedStep = step;
  }

  /**
   * Compares the machines, libraries and settings of the run's processes with those of this
   * process.
   *
   * @param anyway whether to note differences that may change bits, and continue
   * @throws ReplayRefusedException names such differences
   */
  void compareMachines(boolean anyway) throws ReplayRefusedException {
    Map<String, String> here = ComputedWith.process(engines(), composition, "").facts();
    Set<String> obstacles = new LinkedHashSet<>();
    for (RecordedItem.Began began : plan.processes()) {
      obstacles.addAll(ComputedWith.obstacles(began.process().facts(), here));
      remarks.addAll(ComputedWith.remarks(began.process().facts(), here));
    }
    if (!obstacles.isEmpty() && !anyway) {
      throw new ReplayRefusedException(
          "%s was computed otherwise than this process computes, so that its bits would differ: %s;"
                  .formatted(folder.name(), String.join("; ", obstacles))
              + " replay it on such a machine; `troupe replay RUN --anyway` shows where the bits part");
    }
    remarks.addAll(obstacles);
  }

  /** Makes the policy, by the warm-up or from the checkpoint. */
  TrainerTasks.Prepared prepare() {
    TrainerTasks.Prepared prepared = on(tasks, tasks::prepare);
    newest = Optional.of(prepared.snapshot());
    return prepared;
  }

  /** Another process continued the run: by the same weights, perhaps with other settings. */
  void began(RecordedItem.Began began) throws IOException {
    if (!began.process().config().equals(config)) {
      config = began.process().config();
      Composition changed = RunReplay.composition(folder, config);
      settings = changed.settings();
      pool = changed.pool();
      tasks = tasks.under(settings, pool);
    }
  }

  /** Makes a step from the newest weights. */
  TrainerTasks.Step step(long step, List<ScoredGroup> batch) {
    if (step == explainedStep) {
      explained = on(tasks, () -> tasks.tokens(step, version, batch));
    }
    TrainerTasks.Step made = on(tasks, () -> tasks.train(step, version, batch));
    if (made instanceof TrainerTasks.WeightsUpdated updated) {
      newest = Optional.of(updated.snapshot());
      version = updated.snapshot().version();
    }
    return made;
  }

  /**
   * Returns the difference between weights that were made again and those of the run.
   *
   * @param equal parts that are known to be equal
   */
  static Optional<ReplayDifference> difference(WeightSnapshot made, String recorded, String equal) {
    return made.digest().equals(recorded)
        ? Optional.empty()
        : Optional.of(
            ReplayDifference.ofWeights(
                made.version().number(),
                "the weights behind it have digest %s, and %s was recorded; %s"
                    .formatted(made.digest(), recorded, equal)));
  }

  /** A step of the run that moved the weights did not move them here. */
  static ReplayDifference notMoved(long step, String reason) {
    return ReplayDifference.ofWeights(
        step, "it moved the weights, and the replay skips it: " + reason);
  }

  /** Returns the differences between the run's processes and this one. */
  List<String> remarks() {
    return remarks;
  }

  PromptPool pool() {
    return pool;
  }

  RunSettings settings() {
    return settings;
  }

  TrainerTasks tasks() {
    return tasks;
  }

  PolicyEngines engines() {
    return room.engines();
  }

  /** The version behind the last step. */
  WeightVersion version() {
    return version;
  }

  /** The weights behind the last step. */
  WeightSnapshot newest() {
    return newest.orElseThrow();
  }

  /** Returns the values of the tokens in the step that was named. */
  List<ExplainedToken> explained(int row, TokenVersions versions) {
    return ExplainedToken.of(explained.orElseThrow(), row, versions, engines().tokenizer());
  }

  /** Does something on a trainer's thread. */
  public static <T> T on(TrainerTasks trainer, Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, trainer.thread()).join();
    } catch (CompletionException failure) {
      throw failure.getCause() instanceof RuntimeException own ? own : failure;
    }
  }

  @Override
  public void close() {
    room.close();
  }
}
