package io.troupe.engine.djl.train;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.checkpoint.ModelDescription;
import io.troupe.engine.djl.checkpoint.PolicyModel;
import io.troupe.engine.djl.checkpoint.TeacherCheckpoint;
import io.troupe.engine.djl.checkpoint.TrainerCheckpoint;
import io.troupe.engine.djl.model.AdamW;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatGradients;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.ReferenceWeights;
import io.troupe.engine.djl.model.TrainableWeights;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.parallel.DataParallelSteps;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The trainer: weights, gradients, moments and reference in flat arrays of native memory, one
 * program call for the log-probabilities of a micro-batch, one for the optimizer.
 *
 * <p>A step either completes or changes nothing: only the optimizer's call, which comes after the
 * norm is known to be finite, updates weights and moments.
 */
public final class DjlTrainer implements TrainingEngine, DataParallelSteps.Owner {
  private final ComputeSettings compute;
  private final ModelDescription card;
  private final Runnable onClose;
  private final Decoder decoder;
  private final TrainableWeights trained;
  private final MicroBatchPass work;
  private final AdamW optimizer;
  private final Optional<TeacherModel> teacher;

  /** Empty until this thread makes a step: a trainer whose ranks make the steps has none. */
  private Optional<FlatGradients> gradients = Optional.empty();

  private ReferenceWeights reference = new ReferenceWeights.None();

  /** The ranks that make the steps; empty if this thread makes them alone. */
  private Optional<DataParallelSteps> ranks = Optional.empty();

  /** Whether the ranks have moved since these weights were theirs. */
  private boolean stale;

  private boolean open = true;

  public DjlTrainer(
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
    ModelWeights first =
        model.weights(FlatLayout.of(decoder.layout(), mode.decay()), compute.device(), seed);
    this.trained = TrainableWeights.of(mode.tuning(), decoder, first, mode.decay(), seed);
    this.work = new MicroBatchPass(decoder, compute, mode.activations());
    this.optimizer = new AdamW(decoder, trained.trainable());
    this.teacher = teacher.map(found -> TeacherModel.of(found, compute, watcher));
  }

  /** Lets ranks make the steps, and returns this trainer. */
  public DjlTrainer by(DataParallelSteps these) {
    ranks = Optional.of(these);
    return this;
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      OptimizerSettings optimisation) {
    require(
        !loss.penalisesLoss() || reference.weights().isPresent(),
        "a KL coefficient of %s needs a reference policy, and none is frozen; call"
            + " freezeReference first",
        loss.kl().coefficient());
    return step(new RankBatch.Rollouts(rollouts, examples, loss), optimisation);
  }

  @Override
  public StepOutcome trainSupervised(List<TrainingSequence> batch, OptimizerSettings optimisation) {
    return step(new RankBatch.Examples(batch), optimisation);
  }

  private StepOutcome step(RankBatch batch, OptimizerSettings optimisation) {
    enter(true);
    work.check(batch);
    if (ranks.isPresent()) {
      return byRanks(ranks.get(), batch, optimisation);
    }
    FlatGradients sums = gradients.orElseGet(() -> trained.gradients(decoder));
    gradients = Optional.of(sums);
    return work.withinMemory(
        () -> step(batch.rollouts(), work.parts(batch, reference), sums, optimisation));
  }

  private StepOutcome byRanks(
      DataParallelSteps these, RankBatch batch, OptimizerSettings optimisation) {
    StepOutcome outcome = these.step(this, batch, optimisation);
    if (outcome instanceof StepOutcome.Stepped) {
      stale = true;
      optimizer.restoreSteps(optimizer.steps() + 1);
    }
    return outcome;
  }

  /**
   * Takes the weights of the ranks if they have moved, in numbers that passes compute with: what
   * needs finer ones is saved by the ranks.
   */
  private void refresh() {
    if (stale) {
      ranks.orElseThrow().readWeights(this);
      stale = false;
    }
  }

  @Override
  public StateFiles createWeights(Path directory) throws IOException {
    return TrainerCheckpoint.createWeights(directory, decoder, trained);
  }

  @Override
  public void readWeights(Path directory) throws IOException {
    TrainerCheckpoint.readWeights(directory, decoder, trained);
  }

  @Override
  public StateFiles createCheckpoint(Path directory) throws IOException {
    if (trained instanceof TrainableWeights.Adapted) {
      refresh();
    }
    return TrainerCheckpoint.create(
        directory, card, compute.shardBytes(), decoder, trained, optimizer.steps(), reference);
  }

  private StepOutcome step(
      List<TrainingSequence> rollouts,
      List<MicroBatchPass.Part> parts,
      FlatGradients sums,
      OptimizerSettings optimisation) {
    if (parts.isEmpty()) {
      return new StepOutcome.Skipped("no token of the batch has a loss weight");
    }
    GradientPass pass = work.pass(trained, sums);
    for (MicroBatchPass.Part part : parts) {
      Optional<String> refusal = part.in(pass);
      if (refusal.isPresent()) {
        return new StepOutcome.Skipped(refusal.get());
      }
    }
    Torch.enter(compute.trainerThreads(), false);
    long start = System.nanoTime();
    double norm = optimizer.step(sums, optimisation);
    if (!Double.isFinite(norm)) {
      return new StepOutcome.Skipped("the norm of the gradient is " + norm);
    }
    trained.moved(decoder);
    return pass.stepped(rollouts, norm, System.nanoTime() - start);
  }

  @Override
  public List<double[]> logProbs(List<TrainingSequence> batch, double temperature) {
    enter(false);
    refresh();
    work.check(batch, false, 0);
    return work.withinMemory(
        () ->
            switch (trained) {
              case TrainableWeights.Whole(ModelWeights _, ModelWeights whole) ->
                  computeLogProbs(whole, batch, temperature);
              case TrainableWeights.Adapted _ -> {
                ReferenceWeights merged = trained.reference(decoder, optimizer.steps() > 0);
                try {
                  yield computeLogProbs(merged.weights().orElseThrow(), batch, temperature);
                } finally {
                  merged.release();
                }
              }
            });
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    ModelWeights frozen = frozenReference();
    enter(false);
    work.check(batch, false, 0);
    return work.withinMemory(() -> computeLogProbs(frozen, batch, temperature));
  }

  private List<double[]> computeLogProbs(
      ModelWeights frozen, List<TrainingSequence> batch, double temperature) {
    IdentityHashMap<TrainingSequence, double[]> found = new IdentityHashMap<>();
    for (PrefixSharingPlan plan : work.plans(batch)) {
      try (MicroBatch part = MicroBatch.pack(plan, 0);
          LogProbPass logProbs =
              LogProbPass.of(decoder, frozen, part, temperature, work.logitRows())) {
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
    TeacherModel asked = teacher.orElseGet(() -> new TeacherModel(decoder, frozenReference()));
    enter(false);
    work.check(batch, false, 0);
    require(
        topK >= 1 && topK <= decoder.vocabulary(),
        "a teacher's tokens are from 1 to the %d of the vocabulary, not %d",
        decoder.vocabulary(),
        topK);
    return work.withinMemory(() -> computeTopK(asked, batch, topK, temperature));
  }

  private List<TeacherTokens> computeTopK(
      TeacherModel asked, List<TrainingSequence> batch, int topK, double temperature) {
    IdentityHashMap<TrainingSequence, TeacherTokens> found = new IdentityHashMap<>();
    for (PrefixSharingPlan plan : work.plans(batch)) {
      try (MicroBatch part = MicroBatch.pack(plan, 0);
          TopKLogProbs likeliest =
              TopKLogProbs.of(asked, part, topK, temperature, work.logitRows())) {
        List<TeacherTokens> tokens = likeliest.ofSequences(plan);
        for (int i = 0; i < tokens.size(); i++) {
          found.put(plan.rows().get(i).part().sequence(), tokens.get(i));
        }
      }
    }
    return batch.stream()
        .map(s -> found.getOrDefault(s, TopKLogProbs.none(s.completion().length, topK)))
        .toList();
  }

  private ModelWeights frozenReference() {
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
    refresh();
    ReferenceWeights frozen = trained.reference(decoder, optimizer.steps() > 0);
    reference.release();
    reference = frozen;
    ranks.ifPresent(these -> these.freezeReference(this));
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    enter(false);
    refresh();
    return trained.snapshot(decoder, version);
  }

  @Override
  public void save(Path directory) throws IOException {
    enter(false);
    if (ranks.isPresent() && ranks.get().ahead()) {
      ranks.get().save(this, directory);
      return;
    }
    TrainerCheckpoint.save(
        directory, card, compute.shardBytes(), decoder, trained, optimizer, reference);
  }

  @Override
  public void restore(Path directory) throws IOException {
    enter(false);
    ReferenceWeights restored =
        TrainerCheckpoint.restore(directory, card, decoder, trained, optimizer);
    reference.release();
    reference = restored;
    ranks.ifPresent(DataParallelSteps::outdated);
    stale = false;
  }

  /** Returns the optimizer's state, from which a test computes the gradient. */
  public AdamW optimizer() {
    return optimizer;
  }

  /** Returns the trainable weights, for a test. */
  public ModelWeights moved() {
    return trained.trainable();
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
      ranks.ifPresent(DataParallelSteps::close);
      reference.release();
      teacher.ifPresent(TeacherModel::close);
      optimizer.close();
      gradients.ifPresent(FlatGradients::close);
      trained.close();
      decoder.close();
      onClose.run();
    }
  }
}
