package io.troupe.engine.toy;

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
import java.util.List;
import java.util.Optional;

/**
 * Trains the toy policy: {@link TableGradient}'s gradient, {@link AdamW}.
 *
 * <p>Log-probabilities are rounded to single precision, as the sampler rounds them, before they
 * enter a ratio: on the weights that sampled it, a token's ratio is exactly 1.
 */
final class ToyTrainer implements TrainingEngine {
  private static final double INITIAL_SCALE = 0.01;

  private final ToySettings settings;
  private final SumTable model;
  private float[] weights;
  private AdamW optimizer;

  /** Empty while no reference is frozen. */
  private float[] reference;

  /** Who makes the steps on rollouts, if not this thread alone. */
  private Optional<ToyRanks> ranks = Optional.empty();

  private long origin;

  /** Starts from small random weights. */
  ToyTrainer(ToySettings settings, SumTable model, long seed) {
    this(settings, model, initialWeights(model.parameters(), seed), new float[0]);
  }

  /** Starts from given weights and reference (empty if there is none), which are handed over. */
  ToyTrainer(ToySettings settings, SumTable model, float[] weights, float[] reference) {
    this.settings = settings;
    this.model = model;
    this.weights = weights;
    this.reference = reference;
    this.optimizer = AdamW.fresh(weights.length);
  }

  /** The same trainer, whose steps on rollouts are made by ranks. */
  ToyTrainer by(ToyRanks these) {
    ranks = Optional.of(these);
    return this;
  }

  float[] weights() {
    return weights;
  }

  /** Grows whenever others than the ranks move the weights. */
  long origin() {
    return origin;
  }

  AdamW optimizer() {
    return optimizer;
  }

  /** Goes on from what the ranks made. */
  void adopt(float[] moved, AdamW means) {
    weights = moved;
    optimizer = means;
  }

  @Override
  public StepOutcome train(
      List<TrainingSequence> rollouts,
      List<TrainingSequence> examples,
      LossSettings loss,
      Optimisation optimisation) {
    require(
        !loss.penalisesLoss() || reference.length > 0,
        "a KL coefficient of %s needs a reference policy; freeze it before the first step",
        loss.klCoefficient());
    long start = System.nanoTime();
    List<double[]> references =
        loss.penalisesLoss() ? logProbs(reference, rollouts, loss.temperature()) : List.of();
    if (!finite(references)) {
      return new StepOutcome.Skipped("a log-probability of the reference policy is not finite");
    }
    long referenceNanos = System.nanoTime() - start;
    if (ranks.isPresent()) {
      return ranks
          .get()
          .train(this, new ToyRanks.Batch(rollouts, references, examples, loss), optimisation);
    }
    TableGradient gradient = new TableGradient(model, weights);
    for (int i = 0; i < rollouts.size(); i++) {
      if (!gradient.rollout(
          loss, rollouts.get(i), references.isEmpty() ? new double[0] : references.get(i))) {
        return notFinite();
      }
    }
    for (TrainingSequence example : examples) {
      if (!gradient.example(example, loss.supervisedCoefficient())) {
        return notFinite();
      }
    }
    long gradientNanos = System.nanoTime() - start - referenceNanos;
    return move(gradient, rollouts, gradientNanos, referenceNanos, optimisation);
  }

  @Override
  public StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation) {
    long start = System.nanoTime();
    origin++;
    TableGradient gradient = new TableGradient(model, weights);
    for (TrainingSequence example : batch) {
      if (!gradient.example(example, 1)) {
        return notFinite();
      }
    }
    return move(gradient, List.of(), System.nanoTime() - start, 0, optimisation);
  }

  private static StepOutcome notFinite() {
    return new StepOutcome.Skipped("a log-probability of the policy is not finite");
  }

  @Override
  public List<double[]> referenceLogProbs(List<TrainingSequence> batch, double temperature) {
    requireReference();
    return logProbs(reference, batch, temperature);
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
    reference = weights.clone();
  }

  @Override
  public WeightSnapshot snapshot(WeightVersion version) {
    return Snapshots.of(version, model, weights);
  }

  @Override
  public void save(Path directory) throws IOException {
    ToyCheckpoint.write(
        directory,
        settings,
        model,
        new ToyCheckpoint(
            weights, optimizer.first(), optimizer.second(), reference, optimizer.steps()));
  }

  @Override
  public void restore(Path directory) throws IOException {
    ToyCheckpoint saved = ToyCheckpoint.read(directory, settings, model);
    origin++;
    weights = saved.weights();
    reference = saved.reference();
    optimizer = new AdamW(saved.firstMoment(), saved.secondMoment(), saved.steps());
  }

  @Override
  public void close() {
    ranks.ifPresent(ToyRanks::close);
  }

  private StepOutcome move(
      TableGradient gradient,
      List<TrainingSequence> rollouts,
      long gradientNanos,
      long referenceNanos,
      Optimisation o) {
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

  private List<double[]> logProbs(
      float[] policy, List<TrainingSequence> batch, double temperature) {
    TableGradient table = new TableGradient(model, policy);
    return batch.stream().map(s -> table.logProbs(s, temperature)).toList();
  }

  static float[] initialWeights(int parameters, long seed) {
    float[] weights = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      weights[i] = (float) (INITIAL_SCALE * (2 * Draws.uniform(seed, i, 0) - 1));
    }
    return weights;
  }

  private static boolean finite(List<double[]> values) {
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
