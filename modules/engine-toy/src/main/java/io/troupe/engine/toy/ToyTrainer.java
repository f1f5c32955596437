package io.troupe.engine.toy;

import static io.troupe.core.Require.require;

import io.troupe.core.train.LossSettings;
import io.troupe.core.train.ScalarLoss;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Trains the toy policy: gradients by hand, the token loss of {@link ScalarLoss}, {@link AdamW}.
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

  /** Gives the derivative of the loss by the log-probability of a sequence's token. */
  private interface Derivative {
    double at(int sequence, int token);
  }

  /** Gradient of a step, and the mean entropy of its tokens' distributions. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Backward(double[] gradient, double norm, double entropy) {}

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

  @Override
  public StepOutcome train(
      List<TrainingSequence> batch, LossSettings loss, Optimisation optimisation) {
    boolean penalised = loss.klCoefficient() > 0;
    require(
        !penalised || reference.length > 0,
        "a KL coefficient of %s needs a reference policy; freeze it before the first step",
        loss.klCoefficient());
    List<double[]> logProbs = logProbs(weights, batch, loss.temperature());
    List<double[]> references =
        penalised ? logProbs(reference, batch, loss.temperature()) : logProbs;
    if (!finite(logProbs) || !finite(references)) {
      return new StepOutcome.Skipped("a log-probability of the policy is not finite");
    }
    ScalarLoss.StepLoss step = ScalarLoss.step(loss, batch, logProbs, logProbs, references);
    Backward backward =
        backward(
            batch,
            loss.temperature(),
            (s, t) -> {
              TrainingSequence sequence = batch.get(s);
              double logProb = logProbs.get(s)[t];
              return sequence.lossWeights()[t]
                  * ScalarLoss.token(
                          loss,
                          logProb,
                          logProb,
                          sequence.behaviourLogProbs()[t],
                          references.get(s)[t],
                          sequence.advantage())
                      .derivative();
            });
    return move(step, backward, optimisation);
  }

  @Override
  public StepOutcome imitate(List<TrainingSequence> batch, Optimisation optimisation) {
    List<double[]> logProbs = logProbs(weights, batch, 1);
    if (!finite(logProbs)) {
      return new StepOutcome.Skipped("a log-probability of the policy is not finite");
    }
    ScalarLoss.StepLoss step =
        new ScalarLoss.StepLoss(
            ScalarLoss.imitation(batch, logProbs), 0, 0, 0, 0, 0, weightedTokens(batch));
    return move(step, backward(batch, 1, (s, t) -> -batch.get(s).lossWeights()[t]), optimisation);
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
    weights = saved.weights();
    reference = saved.reference();
    optimizer = new AdamW(saved.firstMoment(), saved.secondMoment(), saved.steps());
  }

  @Override
  public void close() {}

  private StepOutcome move(ScalarLoss.StepLoss step, Backward backward, Optimisation o) {
    if (!Double.isFinite(step.loss()) || !Double.isFinite(backward.norm)) {
      return new StepOutcome.Skipped(
          "loss (%s) and gradient norm (%s) must be finite".formatted(step.loss(), backward.norm));
    }
    optimizer.move(weights, backward.gradient, backward.norm, o);
    return new StepOutcome.Stepped(
        step.loss(),
        backward.norm,
        step.behaviourKl(),
        step.behaviourGap(),
        step.referenceKl(),
        backward.entropy,
        step.clippedLow(),
        step.clippedHigh(),
        step.tokens());
  }

  private List<double[]> logProbs(
      float[] policy, List<TrainingSequence> batch, double temperature) {
    List<double[]> all = new ArrayList<>(batch.size());
    for (TrainingSequence sequence : batch) {
      int[] completion = sequence.completion();
      double[] logProbs = new double[completion.length];
      for (int t = 0; t < completion.length; t++) {
        int row = model.row(sequence.prompt(), t);
        double[] distribution = model.logProbs(policy, row, temperature);
        logProbs[t] = (float) distribution[completion[t]];
      }
      all.add(logProbs);
    }
    return all;
  }

  private Backward backward(
      List<TrainingSequence> batch, double temperature, Derivative derivative) {
    double[] gradient = new double[weights.length];
    double entropy = 0;
    for (int s = 0; s < batch.size(); s++) {
      TrainingSequence sequence = batch.get(s);
      for (int t = 0; t < sequence.completion().length; t++) {
        if (sequence.lossWeights()[t] == 0) {
          continue;
        }
        int row = model.row(sequence.prompt(), t);
        double[] distribution = model.logProbs(weights, row, temperature);
        for (double logProb : distribution) {
          entropy -= Math.exp(logProb) * logProb;
        }
        int token = sequence.completion()[t];
        model.addGradient(gradient, row, distribution, token, derivative.at(s, t), temperature);
      }
    }
    double squares = 0;
    for (double g : gradient) {
      squares += g * g;
    }
    return new Backward(gradient, Math.sqrt(squares), entropy / Math.max(weightedTokens(batch), 1));
  }

  private static float[] initialWeights(int parameters, long seed) {
    float[] weights = new float[parameters];
    for (int i = 0; i < parameters; i++) {
      weights[i] = (float) (INITIAL_SCALE * (2 * Draws.uniform(seed, i, 0) - 1));
    }
    return weights;
  }

  private static long weightedTokens(List<TrainingSequence> batch) {
    long tokens = 0;
    for (TrainingSequence sequence : batch) {
      for (float weight : sequence.lossWeights()) {
        tokens += weight == 0 ? 0 : 1;
      }
    }
    return tokens;
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
