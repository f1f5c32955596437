package io.troupe.engine.toy;

import io.troupe.core.loss.Entropy;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.train.StepLoss;
import io.troupe.engine.parallel.PartialStepMetrics;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Accumulates the gradient of a step by every entry of the table, sequence by sequence: core's
 * derivatives by log-probabilities times the derivatives of log-probabilities by logits.
 */
final class TableGradient {
  private final LogitTable model;
  private final float[] weights;
  private final StepLoss loss = new StepLoss();
  private final double[] values;
  private double entropySum;
  private long tokens;

  TableGradient(LogitTable model, float[] weights) {
    this.model = model;
    this.weights = weights;
    this.values = new double[weights.length];
  }

  StepLoss loss() {
    return loss;
  }

  double[] values() {
    return values;
  }

  /**
   * Returns the metrics of the added sequences as a part of a step.
   *
   * @param seconds duration of the part
   * @param referenceSeconds the reference policy took before
   */
  PartialStepMetrics part(
      List<TrainingSequence> rollouts, double seconds, double referenceSeconds) {
    return new PartialStepMetrics(
        loss.part(rollouts), entropySum, tokens, tokens, tokens, seconds, referenceSeconds);
  }

  /** Mean over the tokens so far, in nats. */
  double entropy() {
    return entropySum / Math.max(tokens, 1);
  }

  /** The global L2 norm. */
  double norm() {
    double squares = 0;
    for (double g : values) {
      squares += g * g;
    }
    return Math.sqrt(squares);
  }

  /** Log-probabilities of a completion's tokens, in single precision. */
  double[] logProbs(TrainingSequence sequence, double temperature) {
    double[] logProbs = new double[sequence.completion().length];
    for (int t = 0; t < logProbs.length; t++) {
      logProbs[t] = (float) distribution(sequence, t, temperature)[sequence.completion()[t]];
    }
    return logProbs;
  }

  /** Returns the most likely tokens at each token with loss weight. */
  TeacherTokens likeliest(TrainingSequence sequence, int topK, double temperature) {
    int length = sequence.completion().length;
    TeacherTokens tokens = new TeacherTokens(new int[length][topK], new float[length][topK]);
    for (int t = 0; t < length; t++) {
      if (sequence.lossWeights()[t] == 0) {
        continue;
      }
      double[] distribution = distribution(sequence, t, temperature);
      List<Integer> order =
          IntStream.range(0, distribution.length)
              .boxed()
              .sorted(Comparator.comparingDouble(id -> -distribution[id]))
              .toList();
      for (int k = 0; k < topK; k++) {
        tokens.ids()[t][k] = order.get(k);
        tokens.logProbs()[t][k] = (float) distribution[order.get(k)];
      }
    }
    return tokens;
  }

  /**
   * Adds a rollout.
   *
   * @param reference log-probabilities under the reference; empty without a penalty
   * @return whether the policy's log-probabilities are finite; nothing is added if not
   */
  boolean rollout(LossSettings s, TrainingSequence sequence, double[] reference) {
    double[] logProbs = logProbs(sequence, s.temperature());
    if (!finite(logProbs)) {
      return false;
    }
    double[] penalty = reference.length == 0 ? logProbs : reference;
    StepLoss.Derivatives by =
        loss.add(
            s,
            sequence,
            new StepLoss.Computed(
                logProbs,
                logProbs,
                penalty,
                distillationGradient(sequence, s.temperature()),
                s.rewardsEntropy() ? entropies(sequence, s.temperature()) : new double[0]));
    backward(sequence, by, s.temperature());
    return true;
  }

  /**
   * Adds an example.
   *
   * @return whether the policy's log-probabilities are finite; nothing is added if not
   */
  boolean example(TrainingSequence example, double coefficient) {
    double[] logProbs = logProbs(example, 1);
    if (!finite(logProbs)) {
      return false;
    }
    double[] byLogProb = loss.supervised(example, coefficient, logProbs);
    backward(example, new StepLoss.Derivatives(byLogProb, new double[0][], new double[0]), 1);
    return true;
  }

  private double[] entropies(TrainingSequence sequence, double temperature) {
    double[] entropies = new double[sequence.completion().length];
    for (int t = 0; t < entropies.length; t++) {
      entropies[t] = Entropy.of(distribution(sequence, t, temperature));
    }
    return entropies;
  }

  private double[][] distillationGradient(TrainingSequence sequence, double temperature) {
    int[][] ids = sequence.teacher().ids();
    double[][] logProbs = new double[ids.length][sequence.teacher().topK()];
    for (int t = 0; t < ids.length; t++) {
      double[] distribution = distribution(sequence, t, temperature);
      for (int k = 0; k < ids[t].length; k++) {
        logProbs[t][k] = distribution[ids[t][k]];
      }
    }
    return logProbs;
  }

  private void backward(TrainingSequence sequence, StepLoss.Derivatives by, double temperature) {
    double[] byEntropy = by.byEntropy();
    double[][] byTeacher = by.byTeacherToken();
    for (int t = 0; t < by.byLogProb().length; t++) {
      if (sequence.lossWeights()[t] == 0) {
        continue;
      }
      int row = model.row(sequence.prompt(), t);
      double[] distribution = distribution(sequence, t, temperature);
      entropySum += Entropy.of(distribution);
      tokens++;
      int token = sequence.completion()[t];
      model.addGradient(values, row, distribution, token, by.byLogProb()[t], temperature);
      for (int k = 0; byTeacher.length > 0 && k < byTeacher[t].length; k++) {
        int id = sequence.teacher().ids()[t][k];
        model.addGradient(values, row, distribution, id, byTeacher[t][k], temperature);
      }
      if (byEntropy.length > 0) {
        double[] byLogits = Entropy.byLogits(distribution, temperature);
        for (int k = 0; k < byLogits.length; k++) {
          values[row + k] += byEntropy[t] * byLogits[k];
        }
      }
    }
  }

  private double[] distribution(TrainingSequence sequence, int t, double temperature) {
    return model.logProbs(weights, model.row(sequence.prompt(), t), temperature);
  }

  private static boolean finite(double[] numbers) {
    for (double number : numbers) {
      if (!Double.isFinite(number)) {
        return false;
      }
    }
    return true;
  }
}
