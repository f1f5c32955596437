package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.parallel.DataParallelSteps;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Trains the toy policy with the gradient of {@link TableGradient} and {@link ToyAdamW}.
 *
 * <p>Log-probabilities are rounded to single precision, as the sampler rounds them, before they
 * enter a ratio: on the weights that sampled it, a token's ratio is exactly 1.
 */
final class ToyTrainer implements TrainingEngine, DataParallelSteps.Owner {
  /** The reason for skipping a step whose KL penalty cannot be computed. */
  static final String NO_REFERENCE = "a log-probability of the reference policy is not finite";

  private static final double INITIAL_SCALE = 0.01;

  private final ToySettings settings;
  private final LogitTable model;
  private float[] weights;
  private ToyAdamW optimizer;

  /** Empty while no reference is frozen. */
  private float[] reference;

  /** The ranks that make the steps; empty if this thread makes them alone. */
  private Optional<DataParallelSteps> ranks = Optional.empty();

  /** Whether the ranks have moved since these weights were theirs. */
  private boolean stale;

  /** Starts from small random weights. */
  ToyTrainer(ToySettings settings, LogitTable model, long seed) {
    this(settings, model, initialWeights(model.parameters(), seed), new float[0]);
  }

  /** Starts from given weights and reference (empty if there is none), which are handed over. */
  ToyTrainer(ToySettings settings, LogitTable model, float[] weights, float[] reference) {
    this.settings = settings;
    this.model = model;
    this.weights = weights;
    this.reference = reference;
    this.optimizer = ToyAdamW.fresh(weights.length);
  }

  /** Lets ranks make the steps, and returns this trainer. */
  ToyTrainer by(DataParallelSteps these) {
    ranks = Optional.of(these);
    return this;
  }

  private StepOutcome byRanks(
      DataParallelSteps these, RankBatch batch, OptimizerSettings optimisation) {
    StepOutcome outcome = these.step(this, batch, optimisation);
    if (outcome instanceof StepOutcome.Stepped) {
      stale = true;
      optimizer = new ToyAdamW(optimizer.first(), optimizer.second(), optimizer.steps() + 1);
    }
    return outcome;
  }

  /** Takes the weights of the ranks if they have moved. */
  private void refresh() {
    if (stale) {
      ranks.orElseThrow().readWeights(this);
      stale = false;
    }
  }

  @Override
  public StateFiles createCheckpoint(Path directory) throws IOException {
    write(directory);
    return new StateFiles(
        directory,
        List.of(ToyCheckpoint.MODEL, ToyCheckpoint.TRAINER),
        List.of(StatePart.WEIGHTS, StatePart.MOMENTS),
        true);
  }

  @Override
  public StateFiles createWeights(Path directory) throws IOException {
    state().writeModel(directory, model);
    return new StateFiles(
        directory, List.of(ToyCheckpoint.MODEL), List.of(StatePart.WEIGHTS), false);
  }

  @Override
  public void readWeights(Path directory) throws IOException {
    weights = ToyCheckpoint.readModel(directory, model);
  }

  private ToyCheckpoint state() {
    return new ToyCheckpoint(
        weights, optimizer.first(), optimizer.second(), reference, optimizer.steps());
  }

  private void write(Path directory) throws IOException {
    ToyCheckpoint.write(directory, settings, model, state());
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      OptimizerSettings optimisation) {
    require(
        !loss.penalisesLoss() || reference.length > 0,
        "a KL coefficient of %s needs a reference policy; freeze it before the first step",
        loss.kl().coefficient());
    RankBatch batch = new RankBatch.Rollouts(rollouts, examples, loss);
    if (ranks.isPresent()) {
      return byRanks(ranks.get(), batch, optimisation);
    }
    long start = System.nanoTime();
    List<double[]> references =
        loss.penalisesLoss() ? logProbs(model, reference, rollouts, loss.temperature()) : List.of();
    return finite(references)
        ? step(batch, references, System.nanoTime() - start, optimisation)
        : new StepOutcome.Skipped(NO_REFERENCE);
  }

  @Override
  public StepOutcome trainSupervised(
      List<TrainingSequence> examples, OptimizerSettings optimisation) {
    RankBatch batch = new RankBatch.Examples(examples);
    return ranks.isPresent()
        ? byRanks(ranks.get(), batch, optimisation)
        : step(batch, List.of(), 0, optimisation);
  }

  private StepOutcome step(
      RankBatch batch, List<double[]> references, long referenceNanos, OptimizerSettings o) {
    long start = System.nanoTime();
    TableGradient gradient = new TableGradient(model, weights);
    String refusal = add(gradient, batch, references);
    return refusal.isEmpty()
        ? move(gradient, batch.rollouts(), System.nanoTime() - start, referenceNanos, o)
        : new StepOutcome.Skipped(refusal);
  }

  /**
   * Adds a batch to a gradient.
   *
   * @param references log-probabilities of the rollouts under the reference; none without a penalty
   * @return why the batch cannot be added; empty if it was added
   */
  static String add(TableGradient gradient, RankBatch batch, List<double[]> references) {
    boolean finite = true;
    if (batch instanceof RankBatch.Rollouts(var rollouts, var _, var loss)) {
      for (int i = 0; i < rollouts.size(); i++) {
        double[] own = references.isEmpty() ? new double[0] : references.get(i);
        finite &= gradient.rollout(loss, rollouts.get(i), own);
      }
    }
    for (TrainingSequence example : batch.examples()) {
      finite &= gradient.example(example, batch.coefficient());
    }
    return finite ? "" : "a log-probability of the policy is not finite";
  }

  @Override
  public List<double[]> logProbs(List<TrainingSequence> batch, double temperature) {
    refresh();
    return logProbs(model, weights, batch, temperature);
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    requireReference();
    return logProbs(model, reference, batch, temperature);
  }

  @Override
  public boolean hasTeacher() {
    return false;
  }

  @Override
  public List<TeacherTokens> teacherTokens(
      List<TrainingSequence> batch, int topK, double temperature) {
    requireReference();
    require(
        topK >= 1 && topK <= model.vocabulary(),
        "a teacher's tokens are from 1 to the %d of the vocabulary, not %d",
        model.vocabulary(),
        topK);
    return batch.stream()
        .map(s -> new TableGradient(model, reference).likeliest(s, topK, temperature))
        .toList();
  }

  private void requireReference() {
    require(reference.length > 0, "no reference policy is frozen; call freezeReference first");
  }

  @Override
  public void freezeReference() {
    refresh();
    reference = weights.clone();
    ranks.ifPresent(these -> these.freezeReference(this));
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    refresh();
    return ToySnapshots.of(version, model, weights);
  }

  @Override
  public void save(Path directory) throws IOException {
    if (ranks.isPresent() && ranks.get().ahead()) {
      ranks.get().save(this, directory);
    } else {
      write(directory);
    }
  }

  @Override
  public void restore(Path directory) throws IOException {
    ToyCheckpoint saved = ToyCheckpoint.read(directory, settings, model);
    ranks.ifPresent(DataParallelSteps::outdated);
    stale = false;
    weights = saved.weights();
    reference = saved.reference();
    optimizer = new ToyAdamW(saved.firstMoment(), saved.secondMoment(), saved.steps());
  }

  @Override
  public void close() {
    ranks.ifPresent(DataParallelSteps::close);
  }

  private StepOutcome move(
      TableGradient gradient,
      List<TrainingSequence> rollouts,
      long gradientNanos,
      long referenceNanos,
      OptimizerSettings o) {
    double norm = gradient.norm();
    if (!Double.isFinite(gradient.loss().loss()) || !Double.isFinite(norm)) {
      return new StepOutcome.Skipped(
          "loss (%s) and gradient norm (%s) must be finite"
              .formatted(gradient.loss().loss(), norm));
    }
    long start = System.nanoTime();
    optimizer.move(weights, gradient.values(), norm, o);
    return new StepOutcome.Stepped(
        gradient.loss().metrics(),
        gradient.entropy(),
        norm,
        0,
        new StepOutcome.Times(
            gradientNanos / 1e9, (System.nanoTime() - start) / 1e9, referenceNanos / 1e9),
        gradient.loss().marks(rollouts));
  }

  /** Returns the log-probabilities of a batch under given weights. */
  static List<double[]> logProbs(
      LogitTable model, float[] policy, List<TrainingSequence> batch, double temperature) {
    TableGradient table = new TableGradient(model, policy);
    return batch.stream().map(s -> table.logProbs(s, temperature)).toList();
  }

  static float[] initialWeights(int parameters, long seed) {
    float[] weights = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      weights[i] = (float) (INITIAL_SCALE * (2 * ToyRandom.uniform(seed, i, 0) - 1));
    }
    return weights;
  }

  static boolean finite(List<double[]> values) {
    for (double[] row : values) {
      for (double value : row) {
        if (!Double.isFinite(value)) {
          return false;
        }
      }
    }
    return true;
  }
}
