package io.troupe.core.loss;

import java.util.ArrayList;
import java.util.List;

/**
 * The weight of each completion token in the loss of a step.
 *
 * <p>A token is <em>trainable</em> when it belongs to its completion (not padding) and is not
 * stale. With n_i the trainable tokens of sequence i, and N the sequences of the step that have at
 * least one, the weight of a trainable token is
 *
 * <pre>
 *   GRPO, GSPO    1 / (N n_i)        mean over sequences of the mean over tokens
 *   Dr.GRPO       1 / (N C)          mean over sequences of the sum over tokens, by a constant C
 *   DAPO, CISPO   1 / sum_i n_i      mean over the tokens of the step
 * </pre>
 *
 * <p>and that of any other token is 0, always: with this, no stale token has a gradient.
 *
 * <p><b>Whole step.</b> The denominators are the step's, not a micro-batch's: the mean of
 * micro-batch means weighs a token by how long its neighbours happen to be.
 *
 * <p><b>Masked denominators.</b> Stale tokens, and sequences without a trainable token, are left
 * out of the denominators as of the sum: the loss is the mean over what is trained. Counting them
 * would leave the same direction and shrink the gradient with the stale share, a learning rate that
 * falls, unseen, whenever the samplers lag. The price: under GRPO the young tokens of a partly
 * stale sequence share that sequence's whole 1/N. Under Dr.GRPO a token's weight never depends on
 * how many others of its sequence are trainable.
 */
public final class LossWeights {
  private LossWeights() {}

  /**
   * The weights of a step under an objective.
   *
   * @param trainable an array a sequence, an element a completion token
   * @return weights of the same shape; all 0 if no token is trainable
   */
  public static List<float[]> of(Objective objective, List<boolean[]> trainable) {
    return switch (objective) {
      case Objective.Grpo(),
          Objective.Gspo(),
          Objective.Gmpo(),
          Objective.Sapo(double _, double _) -> {
        double sequences = trainedSequences(trainable);
        yield trainable.stream().map(s -> weights(s, sequences * count(s))).toList();
      }
      case Objective.DrGrpo(double constant) -> {
        double sequences = trainedSequences(trainable);
        yield trainable.stream().map(s -> weights(s, sequences * constant)).toList();
      }
      case Objective.Dapo(), Objective.Cispo(), Objective.Dppo() -> tokenMean(trainable);
      case Objective.Own(String _, LossFunction function) ->
          switch (function.mean()) {
            case TOKENS -> tokenMean(trainable);
            case SEQUENCES -> of(new Objective.Grpo(), trainable);
          };
    };
  }

  /**
   * The weights of a mean over all trainable tokens of the step: DAPO's, CISPO's, and those of
   * imitation.
   *
   * @param trainable an array a sequence, an element a completion token
   * @return weights of the same shape; all 0 if no token is trainable
   */
  public static List<float[]> tokenMean(List<boolean[]> trainable) {
    double tokens = tokens(trainable);
    return trainable.stream().map(s -> weights(s, tokens)).toList();
  }

  /**
   * Returns the factor of the loss weights of taught sequences in the distillation term, so that
   * its mean is over the tokens that a teacher judged: the objective's denominator over all
   * sequences, divided by the same over the taught ones.
   *
   * @param trainable an array a sequence, an element a completion token
   * @param taught an element a sequence
   * @return 1 if all that have a trainable token are taught, 0 if none is
   */
  public static double distillationScale(
      Objective objective, List<boolean[]> trainable, List<Boolean> taught) {
    List<boolean[]> left = new ArrayList<>();
    for (int i = 0; i < trainable.size(); i++) {
      if (taught.get(i)) {
        left.add(trainable.get(i));
      }
    }
    boolean byTokens =
        switch (objective) {
          case Objective.Grpo(),
              Objective.Gspo(),
              Objective.Gmpo(),
              Objective.Sapo(double _, double _),
              Objective.DrGrpo(double _) ->
              false;
          case Objective.Dapo(), Objective.Cispo(), Objective.Dppo() -> true;
          case Objective.Own(String _, LossFunction function) ->
              function.mean() == LossFunction.Mean.TOKENS;
        };
    double all = byTokens ? tokens(trainable) : trainedSequences(trainable);
    double some = byTokens ? tokens(left) : trainedSequences(left);
    return some == 0 ? 0 : all / some;
  }

  private static long tokens(List<boolean[]> trainable) {
    return trainable.stream().mapToLong(LossWeights::count).sum();
  }

  private static float[] weights(boolean[] trainable, double denominator) {
    float[] weights = new float[trainable.length];
    for (int t = 0; t < weights.length; t++) {
      weights[t] = trainable[t] ? (float) (1 / denominator) : 0;
    }
    return weights;
  }

  private static long trainedSequences(List<boolean[]> trainable) {
    return trainable.stream().filter(s -> count(s) > 0).count();
  }

  private static long count(boolean[] trainable) {
    long count = 0;
    for (boolean t : trainable) {
      count += t ? 1 : 0;
    }
    return count;
  }
}
