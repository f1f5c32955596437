package io.troupe.run.supervised;

import io.troupe.base.files.AtomicFile;
import io.troupe.core.supervised.SupervisedEvent;
import io.troupe.core.supervised.SupervisedEvent.Reason;
import io.troupe.core.supervised.SupervisedPlan;
import io.troupe.core.supervised.SupervisedState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.run.session.RunCopy;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.CheckpointListing;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.file.StoreJson;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.state.SupervisedJson;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * One process's part of a supervised run, on the calling thread, which must be a platform thread.
 *
 * <p>The journal comes first, because its lock is the right to work on the run. After a step its
 * event is appended, then come its evaluations, its row of metrics and its checkpoint. A checkpoint
 * is written once the journal up to its step is on the disk; a process continues from the newest
 * whole one, and first makes up the evaluations of its step that the journal lacks. As a step
 * depends on its number and the weights alone, the weights are those of a run without interruption,
 * bit for bit.
 */
public final class SupervisedSession {
  /** The name of the loss on held-out rows. */
  public static final String HELD_OUT_LOSS = "held_out_loss";

  /** The file of the state in a checkpoint. */
  private static final String STATE_FILE = TrainerTasks.STATE_FILE;

  /** Rows whose held-out loss is computed at a time. */
  private static final int MEASURED = 256;

  /** Takes what a run says; called on the thread of the run. */
  public interface SupervisedListener {
    /** A line about the run. */
    void say(String line);

    /** Hears that one more event is in the journal. */
    void happened(SupervisedEvent event);

    /** Hears that one more row is in metrics.jsonl. */
    void row(Map<String, Object> row);
  }

  /**
   * The end of a process's part.
   *
   * @param problem why it failed; empty unless it did
   * @param policy folder of the newest whole checkpoint's policy
   */
  public record Outcome(
      Reason reason, String problem, SupervisedState state, Optional<Path> policy) {}

  private final SupervisedComposition composition;
  private final RunFolder folder;
  private final Optional<String> changed;
  private final SupervisedListener listener;
  private final CompletableFuture<?> stop;
  private final SupervisedPlan plan;

  /**
   * A session that has not touched anything yet.
   *
   * @param changed the resolved configuration, where this session changes it
   * @param stop completes when a person wants the run to end; it ends after its step
   */
  public SupervisedSession(
      SupervisedComposition composition,
      RunFolder folder,
      Optional<String> changed,
      SupervisedListener listener,
      CompletableFuture<?> stop) {
    this.composition = composition;
    this.folder = folder;
    this.changed = changed;
    this.listener = listener;
    this.stop = stop;
    this.plan =
        composition
            .config()
            .training()
            .plan(composition.data().train().size(), composition.config().run().seed());
  }

  /** Trains until the run ends. */
  public Outcome run() throws IOException, InvalidVerifierException {
    try (Journal journal = Journal.open(folder.journal(), JournalSettings.defaults());
        RunCopy copy = RunCopy.start(composition.config().run().sync(), folder, listener::say)) {
      if (changed.isPresent()) {
        folder.replaceResolved(changed.get());
      }
      Checkpoints checkpoints = Checkpoints.open(folder.checkpoints(), journal.fence());
      SupervisedHistory history = SupervisedHistory.read(folder.journal());
      requireSameData(history);
      Optional<Checkpoint> from = newest(checkpoints, history);
      SupervisedHistory before = history.upTo(from.map(Checkpoint::step).orElse(0L));
      long lost = history.lastStep() - before.lastStep();
      if (lost > 0) {
        listener.say(
            "resume from step %d; %d later step%s ended with their process and are made again"
                .formatted(from.map(Checkpoint::step).orElse(0L), lost, lost == 1 ? "" : "s"));
      }
      try (PolicyEngines engines = composition.engines();
          SupervisedEvaluations evaluations =
              new SupervisedEvaluations(composition, engines, folder.path());
          TrainingEngine trainer = engines.newTrainer(composition.config().run().seed())) {
        evaluations.check();
        listener.say("policy " + engines.describe());
        listener.say("device " + engines.device());
        if (from.isPresent()) {
          trainer.restore(from.get().directory().resolve(TrainerTasks.POLICY_FOLDER));
        }
        SupervisedMetrics rows = new SupervisedMetrics(plan);
        replaceMetrics(rows.rows(before));
        try (JsonLinesFile metrics =
            JsonLinesFile.open(folder.metrics(), Duration.ZERO, listener::say)) {
          return new Work(journal, checkpoints, copy, trainer, evaluations, metrics, rows)
              .run(before);
        }
      }
    }
  }

  private void requireSameData(SupervisedHistory history) throws IOException {
    Optional<String> known = history.data();
    if (known.isPresent() && !known.get().equals(composition.data().digest())) {
      throw new IOException(
          "the rows of datasets, or the policy's tokenizer, are not those that %s began with; put them back, or begin a new run with policy.checkpoint=%s"
              .formatted(folder.name(), folder.checkpoints()));
    }
  }

  private Optional<Checkpoint> newest(Checkpoints checkpoints, SupervisedHistory history)
      throws IOException {
    CheckpointListing listing =
        checkpoints.verify(
            checkpoint -> {
              Path file = checkpoint.directory().resolve(STATE_FILE);
              if (!Files.isRegularFile(file)) {
                return Optional.of(STATE_FILE + " is missing");
              }
              SupervisedState state = SupervisedJson.state(file, Files.readAllBytes(file));
              SupervisedState told = history.upTo(checkpoint.step()).state();
              return told.step() == state.step()
                  ? Optional.empty()
                  : Optional.of("the journal does not lead to it");
            });
    for (CheckpointListing.Broken broken : listing.broken()) {
      listener.say(
          "checkpoint step%d cannot be used (%s); it is left alone"
              .formatted(broken.step(), broken.reason()));
    }
    return listing.newest();
  }

  /** Writes the journal's rows in place of rows that a process wrote and could not vouch for. */
  private void replaceMetrics(List<Map<String, Object>> rows) throws IOException {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (Map<String, Object> row : rows) {
      lines.write(StoreJson.LINE.writeValueAsBytes(row));
      lines.write('\n');
    }
    AtomicFile.replace(folder.metrics(), lines.toByteArray());
  }

  /** The resources that are open while the run continues. */
  private final class Work {
    private final Journal journal;
    private final Checkpoints checkpoints;
    private final RunCopy copy;
    private final TrainingEngine trainer;
    private final SupervisedEvaluations evaluations;
    private final JsonLinesFile metrics;
    private final SupervisedMetrics rows;
    private SupervisedState state = SupervisedState.INITIAL;

    Work(
        Journal journal,
        Checkpoints checkpoints,
        RunCopy copy,
        TrainingEngine trainer,
        SupervisedEvaluations evaluations,
        JsonLinesFile metrics,
        SupervisedMetrics rows) {
      this.journal = journal;
      this.checkpoints = checkpoints;
      this.copy = copy;
      this.trainer = trainer;
      this.evaluations = evaluations;
      this.metrics = metrics;
      this.rows = rows;
    }

    Outcome run(SupervisedHistory before) throws IOException {
      state = before.state();
      record(
          new SupervisedEvent.Started(
              state.step(), composition.data().train().size(), composition.data().digest()));
      SupervisedLoop loop =
          new SupervisedLoop(
              trainer,
              composition.data().train(),
              plan,
              step -> composition.config().training().optimisation(step, plan.steps()));
      boolean saved = state.step() > 0;
      evaluate(before.evaluatedAt(state.step()));
      while (state.step() < plan.steps() && !stop.isDone()) {
        SupervisedEvent made = loop.step(state.step() + 1);
        record(made);
        if (state.hopeless()
            && made instanceof SupervisedEvent.StepSkipped(long step, String reason)) {
          endRow();
          return end(Reason.FAILED, SupervisedLoop.hopeless(step, reason));
        }
        evaluate(Set.of());
        int every = composition.config().checkpoint().every();
        saved = every > 0 && state.step() % every == 0;
        if (saved) {
          save();
        }
      }
      if (!saved) {
        save();
      }
      return end(
          state.step() < plan.steps() || stop.isDone() ? Reason.INTERRUPTED : Reason.COMPLETED, "");
    }

    private void record(SupervisedEvent event) throws IOException {
      state = state.evolve(event);
      journal.append(
          List.of(
              SupervisedJson.encode(new SupervisedJson.Entry(Clock.systemUTC().millis(), event))));
      rows.add(event);
      listener.happened(event);
    }

    /**
     * Makes the evaluations that are due and not done; a stop leaves the rest to the next process.
     */
    private void evaluate(Set<String> done) throws IOException {
      long step = state.step();
      List<String> due = new ArrayList<>(evaluations.due(step, plan.steps()));
      due.removeIf(name -> done.contains("eval_" + name));
      int every = composition.config().training().evaluateEvery();
      boolean measured =
          every > 0
              && !composition.data().heldOut().isEmpty()
              && (step % every == 0 || step == plan.steps());
      if (measured && !done.contains(HELD_OUT_LOSS)) {
        record(
            new SupervisedEvent.Evaluated(
                step,
                HELD_OUT_LOSS,
                SupervisedLoop.loss(trainer, composition.data().heldOut(), MEASURED)));
      }
      if (!due.isEmpty()) {
        var snapshot = trainer.snapshot(new WeightVersion(step));
        for (String name : due) {
          try {
            OptionalDouble value = evaluations.evaluate(name, snapshot, stop);
            if (value.isPresent()) {
              record(new SupervisedEvent.Evaluated(step, "eval_" + name, value.getAsDouble()));
            } else {
              listener.say(
                  "evaluation %s of v%d: no completion could be judged".formatted(name, step));
            }
          } catch (InterruptedException stopped) {
            return;
          }
        }
      }
      endRow();
    }

    private void endRow() {
      Map<String, Object> row = rows.take();
      if (!row.isEmpty()) {
        metrics.write(row);
        listener.row(row);
      }
    }

    private void save() throws IOException {
      journal.sync();
      long step = state.step();
      checkpoints.save(
          step,
          directory -> {
            Files.write(directory.resolve(STATE_FILE), SupervisedJson.encode(state));
            trainer.save(Files.createDirectory(directory.resolve(TrainerTasks.POLICY_FOLDER)));
          });
      record(new SupervisedEvent.CheckpointSaved(step));
      checkpoints.keepLast(composition.config().checkpoint().keep());
      copy.checkpointed();
    }

    private Outcome end(Reason reason, String problem) throws IOException {
      record(new SupervisedEvent.Ended(reason));
      journal.sync();
      return new Outcome(
          reason,
          problem,
          state,
          checkpoints
              .list()
              .newest()
              .map(newest -> newest.directory().resolve(TrainerTasks.POLICY_FOLDER)));
    }
  }
}
