package io.troupe.runtime;

import static io.troupe.core.Require.invariant;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptOrder;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.run.RunState;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.train.CompletionStatistics;
import io.troupe.core.train.GroupTokenMarks;
import io.troupe.core.train.LossTokens;
import io.troupe.core.train.TrainingBatch;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.CompletionLimits;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.prompt.RunSettings;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.runtime.prompt.TeacherPrompts;
import io.troupe.store.checkpoint.BufferedGroupFile;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowLines;
import io.troupe.telemetry.RowQueue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The blocking half of the trainer: everything that touches the training engine or the disk. All of
 * it runs on {@link #thread}, one call at a time.
 */
public final class TrainerTasks {
  /** The coordinator's state and its place in the journal, in a checkpoint. */
  public static final String STATE_FILE = StateSnapshot.FILE;

  static final String GROUPS_FILE = "groups.jsonl";

  /** The rows that metrics.jsonl lacked, in a checkpoint. */
  public static final String ROWS_FILE = "rows.jsonl";

  /** The engine's folder, in a checkpoint. */
  public static final String POLICY_FOLDER = "policy";

  /** Steps between two reports of the warm-up. */
  private static final int REPORT_EVERY = 25;

  /** The warm-up ends early by the mean loss of this many steps. */
  private static final int JUDGED_STEPS = 10;

  /** The policy is ready. */
  public record Prepared(WeightSnapshot snapshot, List<ScoredGroup> groups) {}

  /** The result of a step. */
  public sealed interface Step {}

  /** The weights moved, by a loss over these tokens of these groups. */
  public record WeightsUpdated(
      StepMetrics metrics, LossTokens tokens, List<GroupTokenMarks> groups, WeightSnapshot snapshot)
      implements Step {}

  /**
   * A step's view of its tokens before the weights move.
   *
   * @param sequences with advantages, staleness and loss weights, in the order of the batch
   * @param logProbs of the trainer, an array a sequence; undefined where there is no loss weight
   * @param referenceLogProbs of the reference policy, likewise; none where the loss reads none
   */
  public record StepTokens(
      LossSettings loss,
      List<TrainingSequence> sequences,
      List<double[]> logProbs,
      List<double[]> referenceLogProbs) {}

  /**
   * The weights did not move.
   *
   * @param empty whether there was nothing to move them by: no token had loss weight
   */
  public record WeightsKept(String reason, boolean empty) implements Step {}

  /**
   * The progress of the warm-up.
   *
   * @param steps at most
   * @param loss mean of the last ten steps
   */
  public record WarmupProgress(int step, int steps, double loss) {}

  /**
   * The checkpoint that a run continues from.
   *
   * @param checkpoint folder of the checkpoint
   * @param state state of the checkpoint
   * @param rows that metrics.jsonl lacks
   */
  public record Resume(Path checkpoint, RunState state, RowQueue rows) {}

  private final EngineRegistry room;
  private final RunSettings settings;
  private final PromptPool pool;
  private final Checkpoints checkpoints;
  private final StepTokenFiles tokenFiles;
  private final Optional<Resume> resume;
  private final Consumer<WarmupProgress> progress;
  private final TeacherPrompts teacherPrompts;
  private final CompletionLimits completionLimits;
  private volatile boolean stopped;
  private @Nullable TrainingEngine engine;

  /** A workshop that has not touched anything yet. */
  public TrainerTasks(
      EngineRegistry room,
      RunSettings settings,
      PromptPool pool,
      Checkpoints checkpoints,
      StepTokenFiles tokenFiles,
      Optional<Resume> resume,
      Consumer<WarmupProgress> progress) {
    this.room = room;
    this.settings = settings;
    this.pool = pool;
    this.checkpoints = checkpoints;
    this.tokenFiles = tokenFiles;
    this.resume = resume;
    this.progress = progress;
    this.completionLimits =
        new CompletionLimits(
            pool,
            settings.loss().overlong().punishment().active()
                ? settings.sampling()
                : SourceSampling.of(settings.sampling().general()));
    this.teacherPrompts = new TeacherPrompts(settings.teacherPrompt(), pool, room.engines());
  }

  /** Returns the thread on which all calls run that touch the engine. */
  public Executor thread() {
    return room.trainerThread();
  }

  /** Ends a running warm-up at its next step. Callable from any thread. */
  void stop() {
    stopped = true;
  }

  /**
   * Returns this engine under the settings of another process of the run.
   *
   * @param prompts of that process
   */
  public TrainerTasks under(RunSettings others, PromptPool prompts) {
    return under(others, prompts, checkpoints);
  }

  /**
   * Returns this engine under other settings, with a store of checkpoints of its own.
   *
   * @param own store of checkpoints of the other process
   */
  public TrainerTasks under(RunSettings others, PromptPool prompts, Checkpoints own) {
    TrainerTasks next = new TrainerTasks(room, others, prompts, own, tokenFiles, resume, progress);
    next.engine = engine;
    return next;
  }

  /** Makes the policy: from the checkpoint, or by the warm-up. */
  public Prepared prepare() {
    TrainingEngine fresh = room.newTrainer(settings.seed());
    engine = fresh;
    if (resume.isPresent()) {
      return restore(resume.get(), fresh);
    }
    warmUp(fresh);
    if (readsReference()) {
      fresh.freezeReference();
    }
    return new Prepared(fresh.snapshot(WeightVersion.BASE), List.of());
  }

  private boolean readsReference() {
    return settings.loss().readsReference(engine().hasTeacher());
  }

  private static Prepared restore(Resume from, TrainingEngine engine) {
    try {
      engine.restore(from.checkpoint().resolve(POLICY_FOLDER));
      return new Prepared(
          engine.snapshot(from.state().version()),
          BufferedGroupFile.read(from.checkpoint().resolve(GROUPS_FILE)));
    } catch (IOException e) {
      throw new UncheckedIOException("checkpoint " + from.checkpoint() + ": " + e.getMessage(), e);
    }
  }

  private void warmUp(TrainingEngine fresh) {
    RunSettings.Warmup warmup = settings.warmup();
    int examples = warmup.examples() == 0 ? pool.size() : Math.min(warmup.examples(), pool.size());
    OptimizerSettings optimisation = settings.warmupOptimisation();
    Deque<Double> recent = new ArrayDeque<>();
    boolean enough = false;
    for (int step = 1; step <= warmup.steps() && !enough; step++) {
      if (stopped) {
        throw new CancellationException("stopped in warm-up step " + step);
      }
      double loss =
          supervisedStep(
              fresh, step, supervisedBatch(step, warmup.batch(), examples), optimisation);
      recent.addLast(loss);
      if (recent.size() > JUDGED_STEPS) {
        recent.removeFirst();
      }
      double mean = recent.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
      enough = recent.size() == JUDGED_STEPS && mean <= warmup.untilLoss();
      if (step == 1 || step % REPORT_EVERY == 0 || step == warmup.steps() || enough) {
        progress.accept(new WarmupProgress(step, warmup.steps(), mean));
      }
    }
  }

  private static double supervisedStep(
      TrainingEngine fresh,
      int step,
      List<TrainingSequence> lesson,
      OptimizerSettings optimisation) {
    return switch (fresh.trainSupervised(lesson, optimisation)) {
      case StepOutcome.Stepped done -> done.loss();
      case StepOutcome.Skipped(String reason) ->
          throw new IllegalStateException(
              "warm-up step %d: %s; lower warmup.learning_rate".formatted(step, reason));
    };
  }

  /** The examples of a step: pass after pass over the first {@code examples} prompts. */
  private List<TrainingSequence> supervisedBatch(long step, int batch, int examples) {
    Tokenizer tokenizer = room.engines().tokenizer();
    List<SupervisedExample> shown = new ArrayList<>();
    for (long i = (step - 1) * batch; i < step * batch; i++) {
      int chosen = PromptOrder.at(settings.seed(), i / examples, (int) (i % examples), examples);
      // The chosen few are spread over the pool by the same permutation as the first epoch.
      int index = PromptOrder.at(settings.seed(), 0, chosen, pool.size());
      Prompt prompt = pool.prompt(index);
      shown.add(
          SupervisedExample.answered(
              prompt.id().toString(),
              pool.tokens(index),
              tokenizer.encode(prompt.solution()),
              pool.end(index)));
    }
    return SupervisedExample.sequences(shown);
  }

  private List<TrainingSequence> examples(long step, int batch) {
    if (batch == 0) {
      return List.of();
    }
    return pool.imitatesRows()
        ? SupervisedExample.sequences(pool.imitated(step, batch))
        : supervisedBatch(step, batch, pool.size());
  }

  /** Makes a step from the weights of a version on a batch. */
  public Step train(long step, WeightVersion from, List<ScoredGroup> groups) {
    long start = System.nanoTime();
    ReferenceScoring consultation = consultation(step);
    Optional<TrainingBatch> made = batch(consultation, from, groups);
    if (made.isEmpty()) {
      return new WeightsKept("a log-probability of the reference policy is not finite", false);
    }
    TrainingBatch batch = made.get();
    List<TrainingSequence> rollouts = consultation.withTeacherTokens(batch.sequences());
    List<TrainingSequence> examples = examples(step, settings.examplesPerStep());
    OptimizerSettings optimisation = settings.optimisationAt(step);
    return switch (engine().train(rollouts, examples, settings.loss(), optimisation)) {
      case StepOutcome.Skipped(String reason) ->
          new WeightsKept(reason, examples.isEmpty() && LossTokens.of(rollouts).weighted() == 0);
      case StepOutcome.Stepped stepped -> {
        WeightSnapshot snapshot = engine().snapshot(from.next());
        tokenFiles.write(step, groups);
        yield new WeightsUpdated(
            new StepMetrics(
                stepped,
                optimisation.learningRate(),
                batch.trainedTokens(),
                batch.maskedTokens(),
                batch.stalenessMax(),
                batch.stalenessMean(),
                (System.nanoTime() - start) / 1e9,
                CompletionStatistics.of(groups, settings.limits().groups().mark())),
            LossTokens.of(rollouts),
            GroupTokenMarks.of(groups, stepped.marks()),
            snapshot);
      }
    };
  }

  /**
   * Returns a step's view of its batch; nothing changes but the reference, which the step refreshes
   * where it is due.
   *
   * @return absent if a log-probability of the reference policy is not finite
   */
  public Optional<StepTokens> tokens(long step, WeightVersion from, List<ScoredGroup> groups) {
    Optional<TrainingBatch> batch = batch(consultation(step), from, groups);
    return batch.map(
        made -> {
          List<TrainingSequence> sequences = made.sequences();
          double temperature = settings.loss().temperature();
          return new StepTokens(
              settings.loss(),
              sequences,
              engine().logProbs(sequences, temperature),
              readsReference() ? engine().referenceLogProbs(sequences, temperature) : List.of());
        });
  }

  private ReferenceScoring consultation(long step) {
    if (readsReference() && settings.refreshesReferenceBefore(step)) {
      engine().freezeReference();
    }
    return new ReferenceScoring(engine(), settings.loss(), teacherPrompts);
  }

  private Optional<TrainingBatch> batch(
      ReferenceScoring consultation, WeightVersion from, List<ScoredGroup> groups) {
    return consultation
        .rewards(groups, completionLimits)
        .map(
            rewards ->
                TrainingBatch.of(
                    groups,
                    rewards,
                    consultation.fitsTeacherContext(groups),
                    settings.loss(),
                    settings.limits().bound(),
                    from));
  }

  /**
   * Saves a checkpoint.
   *
   * @param buffered groups of the state with their tokens
   * @param rows that metrics.jsonl lacks
   */
  public void save(long step, StateSnapshot snapshot, List<ScoredGroup> buffered, RowQueue rows) {
    try {
      checkpoints.save(
          step,
          folder -> {
            snapshot.write(folder.resolve(STATE_FILE));
            BufferedGroupFile.write(folder.resolve(GROUPS_FILE), buffered);
            Files.write(folder.resolve(ROWS_FILE), RowLines.encode(rows));
            engine().save(Files.createDirectory(folder.resolve(POLICY_FOLDER)));
          });
      checkpoints.keepLast(settings.keepCheckpoints());
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private TrainingEngine engine() {
    invariant(engine != null, "the policy is not prepared");
    return Objects.requireNonNull(engine);
  }
}
