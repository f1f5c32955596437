package io.troupe.core.loss;

import java.util.List;

/** Two sequences of three and two tokens, small enough to work out by hand. */
public final class GoldenBatch {
  public static final List<double[]> LOG_PROBS =
      List.of(new double[] {-1, -2, -.5}, new double[] {-.7, -1.2});
  static final double[][] BEHAVIOUR = {{-1.1, -1.5, -.5}, {-1.5, -1.2}};
  public static final List<double[]> REFERENCE =
      List.of(new double[] {-1, -1.8, -.9}, new double[] {-.9, -1.2});
  static final double[] ADVANTAGES = {1, -1};
  public static final List<boolean[]> ALL =
      List.of(new boolean[] {true, true, true}, new boolean[] {true, true});

  private GoldenBatch() {}

  public static LossSettings settings(
      Objective objective, double low, double high, Correction correction, double beta) {
    return new LossSettings(objective, low, high, correction, beta, KlEstimator.K3, 1);
  }

  /** The loss of a token of the present weights. */
  public static ScalarLoss.TokenLoss token(
      LossSettings s, double logProb, double start, double behaviour, double reference, double a) {
    return ScalarLoss.token(s, new ScalarLoss.Token(logProb, start, behaviour, reference, 0), a);
  }

  public static List<TrainingSequence> batch(List<float[]> weights) {
    return List.of(sequence(0, weights.get(0)), sequence(1, weights.get(1)));
  }

  private static TrainingSequence sequence(int i, float[] weights) {
    float[] behaviour = new float[BEHAVIOUR[i].length];
    for (int t = 0; t < behaviour.length; t++) {
      behaviour[t] = (float) BEHAVIOUR[i][t];
    }
    int[] completion = new int[behaviour.length];
    return new TrainingSequence(new int[] {7}, completion, behaviour, weights, ADVANTAGES[i]);
  }
}
