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
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankedSteps;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The trainer: weights, moments and reference in native memory, one program call for the
 * log-probabilities of a micro-batch, one for the optimizer.
 *
 * <p>A step either happens or leaves everything as it was: gradients belong to the step's leaves
 * and go with them, however it ends, and weights and moments move only in the optimizer's call,
 * which looks at the norm first.
 */
final class DjlTrainer implements TrainingEngine, RankedSteps.Owner {
  private final ComputeSettings compute;
  private final CheckpointCard card;
  private final Runnable onClose;
  private final Decoder decoder;
  private final Trained trained;
  private final StepWork work;
  private final WeightDecay decay;
  private final AdamW optimizer;
  private final Optional<Teacher> teacher;
  private Reference reference = new Reference.None();

  /** Who makes the steps, if not this thread alone. */
  private Optional<RankedSteps> ranks = Optional.empty();

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
    Weights first = model.weights(decoder.layout(), compute.device(), seed);
    this.trained = Trained.of(mode.tuning(), first, seed);
    this.work = new StepWork(decoder, compute, mode.activations());
    this.decay = mode.decay();
    this.optimizer = new AdamW(trained.moved(), mode.decay());
    this.teacher = teacher.map(found -> Teacher.of(found, compute, watcher));
  }

  /** The same trainer, whose steps are made by ranks. */
  DjlTrainer by(RankedSteps these) {
    ranks = Optional.of(these);
    return this;
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
    return step(new RankShare.Rollouts(rollouts, examples, loss), optimisation);
  }

  @Override
  public StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation) {
    return step(new RankShare.Examples(batch), optimisation);
  }

  private StepOutcome step(RankShare batch, Optimisation optimisation) {
    enter(true);
    work.check(batch);
    return ranks.isPresent()
        ? ranks.get().step(this, batch, optimisation)
        : work.withinMemory(
            () -> step(batch.rollouts(), work.parts(batch, reference), optimisation));
  }

  /** Goes on from what the ranks made. */
  @Override
  public void adopt(MemorySegment weights, MemorySegment first, MemorySegment second) {
    enter(false);
    FlatLayout layout = new FlatLayout(trained.moved().layout(), decay);
    layout.fill(trained.moved(), weights);
    layout.fill(optimizer.first(), first);
    layout.fill(optimizer.second(), second);
    optimizer.restoreSteps(optimizer.steps() + 1);
  }

  private StepOutcome step(
      List<TrainingSequence> rollouts, List<StepWork.Part> parts, Optimisation optimisation) {
    if (parts.isEmpty()) {
      return new StepOutcome.Skipped("no token of the batch has a loss weight");
    }
    try (Leaves leaves = trained.leaves()) {
      GradientPass pass = work.pass(leaves);
      for (StepWork.Part part : parts) {
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
    work.check(batch, false, 0);
    return work.withinMemory(() -> readLogProbs(frozen, batch, temperature));
  }

  private List<double[]> readLogProbs(
      Weights frozen, List<TrainingSequence> batch, double temperature) {
    IdentityHashMap<TrainingSequence, double[]> found = new IdentityHashMap<>();
    for (SequencePlan plan : work.plans(batch)) {
      try (MicroBatch part = MicroBatch.pack(plan, 0);
          LogProbs logProbs = LogProbs.of(decoder, frozen, part, temperature, work.logitRows())) {
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
    work.check(batch, false, 0);
    require(
        topK >= 1 && topK <= decoder.vocabulary(),
        "a teacher's tokens are from 1 to the %d of the vocabulary, not %d",
        decoder.vocabulary(),
        topK);
    return work.withinMemory(() -> readLikeliest(asked, batch, topK, temperature));
  }

  private List<TeacherTokens> readLikeliest(
      Teacher asked, List<TrainingSequence> batch, int topK, double temperature) {
    IdentityHashMap<TrainingSequence, TeacherTokens> found = new IdentityHashMap<>();
    for (SequencePlan plan : work.plans(batch)) {
      try (MicroBatch part = MicroBatch.pack(plan, 0);
          Likeliest likeliest = Likeliest.of(asked, part, topK, temperature, work.logitRows())) {
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
    ranks.ifPresent(RankedSteps::outdated);
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
    ranks.ifPresent(RankedSteps::outdated);
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
      ranks.ifPresent(RankedSteps::close);
      reference.release();
      teacher.ifPresent(Teacher::close);
      optimizer.close();
      trained.close();
      decoder.close();
      onClose.run();
    }
  }
}
