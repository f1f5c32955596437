package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.core.train.LossSettings;
import io.troupe.core.train.TeacherTokens;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The trainer: weights, moments and reference in native memory, one program call for the
 * log-probabilities of a micro-batch, one for the optimizer.
 *
 * <p>A step either happens or leaves everything as it was: gradients belong to the step's leaves
 * and go with them, however it ends, and weights and moments move only in the optimizer's call,
 * which looks at the norm first.
 */
final class DjlTrainer implements TrainingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(DjlTrainer.class);
  private static final int SMALLEST_MICRO_BATCH = 2;

  private final ComputeSettings compute;
  private final CheckpointCard card;
  private final Runnable onClose;
  private final Decoder decoder;
  private final Trained trained;
  private final TrainingMode.Activations activations;
  private final AdamW optimizer;
  private final Optional<Teacher> teacher;
  private Reference reference = new Reference.None();
  private final int logitRows;
  private int microBatchTokens;
  private boolean open = true;

  DjlTrainer(
      PolicyModel model,
      ComputeSettings compute,
      TrainingMode mode,
      Optional<TeacherCheckpoint> teacher,
      long seed,
      Consumer<String> watcher,
      Runnable onClose) {
    this.compute = compute;
    this.microBatchTokens = compute.microBatchTokens();
    this.card = model.card();
    this.onClose = onClose;
    Torch.enter(compute.trainerThreads(), false);
    this.decoder =
        new Decoder(
            model.settings(),
            model.tokenizer().vocabularySize(),
            compute.device(),
            compute.precision(),
            watcher);
    this.logitRows = compute.logitRows(decoder.vocabulary());
    Weights first = model.weights(decoder.layout(), compute.device(), seed);
    this.trained = Trained.of(mode.tuning(), first, seed);
    this.activations = mode.activations();
    this.optimizer = new AdamW(trained.moved(), mode.decay());
    this.teacher = teacher.map(found -> Teacher.of(found, compute, watcher));
  }

  /** A part of a step; says why the step cannot be made, if it cannot. */
  private interface Part {
    Optional<String> in(GradientPass pass);
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      Optimisation optimisation) {
    require(
        !loss.penalisesLoss() || reference.weights().isPresent(),
        "a KL coefficient of %s needs a reference policy, and none is frozen; call"
            + " freezeReference first",
        loss.klCoefficient());
    enter(true);
    check(rollouts, true, loss.distillation().topK());
    check(examples, false, 0);
    return withinMemory(
        () -> {
          List<Part> parts = new ArrayList<>();
          for (SequencePlan plan : plans(rollouts)) {
            parts.add(pass -> pass.rollouts(plan, loss, reference));
          }
          for (SequencePlan plan : plans(examples)) {
            parts.add(pass -> pass.examples(plan, loss.supervisedCoefficient()));
          }
          return step(rollouts, parts, optimisation);
        });
  }

  @Override
  public StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation) {
    enter(true);
    check(batch, false, 0);
    return withinMemory(
        () -> {
          List<Part> parts = new ArrayList<>();
          for (SequencePlan plan : plans(batch)) {
            parts.add(pass -> pass.examples(plan, 1));
          }
          return step(List.of(), parts, optimisation);
        });
  }

  /**
   * Does what plans by micro-batches, again with smaller ones when memory runs out. What such work
   * has begun goes with it, and the size of micro-batches changes a result by rounding only.
   */
  private <T> T withinMemory(Supplier<T> work) {
    while (true) {
      try {
        return work.get();
      } catch (OutOfMemoryException full) {
        takeLess(full);
      }
    }
  }

  private void takeLess(OutOfMemoryException full) {
    int before = microBatchTokens;
    if (before <= SMALLEST_MICRO_BATCH) {
      throw new IllegalStateException(
          "memory ran out with one sequence a pass; lower policy.context_length, set"
              + " policy.recompute to layers, or take a device with more memory",
          full);
    }
    microBatchTokens = Math.max(SMALLEST_MICRO_BATCH, before / 2);
    Torch.emptyCache(compute.device());
    LOG.warn(
        "memory ran out ({}); the trainer goes on with micro-batches of {} tokens, {} before: set"
            + " policy.micro_batch_tokens to that",
        full.getMessage(),
        microBatchTokens,
        before);
  }

  private void check(List<TrainingSequence> batch, boolean behaviour, int topK) {
    MicroBatch.check(
        batch, decoder.settings().contextLength(), decoder.vocabulary(), behaviour, topK);
  }

  private List<SequencePlan> plans(List<TrainingSequence> batch) {
    return SequencePlan.of(batch, microBatchTokens);
  }

  private StepOutcome step(
      List<TrainingSequence> rollouts, List<Part> parts, Optimisation optimisation) {
    if (parts.isEmpty()) {
      return new StepOutcome.Skipped("no token of the batch has a loss weight");
    }
    try (Leaves leaves = trained.leaves()) {
      GradientPass pass = new GradientPass(decoder, leaves, activations, logitRows);
      for (Part part : parts) {
        Optional<String> refusal = part.in(pass);
        if (refusal.isPresent()) {
          return new StepOutcome.Skipped(refusal.get());
        }
      }
      Torch.enter(compute.trainerThreads(), false);
      long start = System.nanoTime();
      double norm = optimizer.step(decoder, leaves, optimisation);
      return Double.isFinite(norm)
          ? pass.stepped(rollouts, norm, System.nanoTime() - start)
          : new StepOutcome.Skipped("the norm of the gradient is " + norm);
    }
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    Weights frozen = frozenReference();
    enter(false);
    check(batch, false, 0);
    return withinMemory(() -> readLogProbs(frozen, batch, temperature));
  }

  private List<double[]> readLogProbs(
      Weights frozen, List<TrainingSequence> batch, double temperature) {
    IdentityHashMap<TrainingSequence, double[]> found = new IdentityHashMap<>();
    for (SequencePlan plan : plans(batch)) {
      try (MicroBatch part = MicroBatch.pack(plan, 0);
          LogProbs logProbs = LogProbs.of(decoder, frozen, part, temperature, logitRows)) {
        List<TokenRows> rows = logProbs.rows(plan);
        for (int i = 0; i < rows.size(); i++) {
          found.put(plan.rows().get(i).part().sequence(), rows.get(i).column(0));
        }
      }
    }
    return batch.stream()
        .map(s -> found.getOrDefault(s, new double[s.completion().length]))
        .toList();
  }

  @Override
  public boolean hasTeacher() {
    return teacher.isPresent();
  }

  @Override
  public List<TeacherTokens> teacherTokens(
      List<TrainingSequence> batch, int topK, double temperature) {
    Teacher asked = teacher.orElseGet(() -> new Teacher(decoder, frozenReference()));
    enter(false);
    check(batch, false, 0);
    require(
        topK >= 1 && topK <= decoder.vocabulary(),
        "a teacher's tokens are from 1 to the %d of the vocabulary, not %d",
        decoder.vocabulary(),
        topK);
    return withinMemory(() -> readLikeliest(asked, batch, topK, temperature));
  }

  private List<TeacherTokens> readLikeliest(
      Teacher asked, List<TrainingSequence> batch, int topK, double temperature) {
    IdentityHashMap<TrainingSequence, TeacherTokens> found = new IdentityHashMap<>();
    for (SequencePlan plan : plans(batch)) {
      try (MicroBatch part = MicroBatch.pack(plan, 0);
          Likeliest likeliest = Likeliest.of(asked, part, topK, temperature, logitRows)) {
        List<TeacherTokens> tokens = likeliest.ofSequences(plan);
        for (int i = 0; i < tokens.size(); i++) {
          found.put(plan.rows().get(i).part().sequence(), tokens.get(i));
        }
      }
    }
    return batch.stream()
        .map(s -> found.getOrDefault(s, Likeliest.none(s.completion().length, topK)))
        .toList();
  }

  private Weights frozenReference() {
    return reference
        .weights()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no reference policy is frozen; call freezeReference first"));
  }

  @Override
  public void freezeReference() {
    enter(false);
    Reference frozen = trained.reference(decoder, optimizer.steps() > 0);
    reference.release();
    reference = frozen;
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    enter(false);
    return trained.snapshot(decoder, version);
  }

  @Override
  public void save(Path directory) throws IOException {
    enter(false);
    Checkpoint.save(directory, card, compute.shardBytes(), decoder, trained, optimizer, reference);
  }

  @Override
  public void restore(Path directory) throws IOException {
    enter(false);
    Reference restored = Checkpoint.restore(directory, card, trained, optimizer);
    reference.release();
    reference = restored;
  }

  /** The optimizer's state, which tells a test the gradient. */
  AdamW optimizer() {
    return optimizer;
  }

  /** What moves, for a test. */
  Weights moved() {
    return trained.moved();
  }

  private void enter(boolean gradients) {
    if (!open) {
      throw new IllegalStateException("the trainer is closed");
    }
    if (Thread.currentThread().isVirtual()) {
      throw new IllegalStateException(
          "the trainer runs on a platform thread: PyTorch keeps state with the native one");
    }
    Torch.enter(compute.trainerThreads(), gradients);
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      reference.release();
      teacher.ifPresent(Teacher::close);
      optimizer.close();
      trained.close();
      decoder.close();
      onClose.run();
    }
  }
}
