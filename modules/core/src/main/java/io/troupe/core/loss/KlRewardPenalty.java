package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import java.util.Arrays;
import java.util.OptionalDouble;

/**
 * The KL penalty as part of the reward: r - beta sum_t k_t over all tokens of the completion, with
 * the estimate k_t of {@link KlEstimator} at d = log p_ref - log q. It measures the policy that
 * sampled the completion, q, since that is whose reward it is; with K1 the sum is an unbiased
 * estimate of the sequence's KL, and its policy gradient that of the KL itself.
 */
public final class KlRewardPenalty {
  private KlRewardPenalty() {}

  /**
   * Returns the sum of the estimates, which beta multiplies; absent if a token's log-probabilities
   * are not finite, as where the reference rules a token out.
   *
   * @param behaviourLogProbs log q of each token
   * @param referenceLogProbs log p_ref of each token
   */
  public static OptionalDouble of(
      LossSettings s, float[] behaviourLogProbs, double[] referenceLogProbs) {
    require(
        behaviourLogProbs.length == referenceLogProbs.length,
        "%d completion tokens need as many reference log-probabilities, not %d",
        behaviourLogProbs.length,
        referenceLogProbs.length);
    double sum = 0;
    for (int t = 0; t < referenceLogProbs.length; t++) {
      double d = referenceLogProbs[t] - behaviourLogProbs[t];
      if (!Double.isFinite(d)) {
        return OptionalDouble.empty();
      }
      sum += s.kl().estimator().value(d);
    }
    return OptionalDouble.of(sum);
  }

  /**
   * The sum over the sampled tokens of a sequence; no policy sampled what it observed.
   *
   * @param referenceLogProbs log p_ref of each token behind the prompt
   */
  public static OptionalDouble of(
      LossSettings s, TrainingSequence sequence, double[] referenceLogProbs) {
    float[] behaviour = sequence.behaviourLogProbs().clone();
    double[] reference = referenceLogProbs.clone();
    int sampled = 0;
    for (int t = 0; t < reference.length; t++) {
      if (sequence.isSampled(t)) {
        behaviour[sampled] = behaviour[t];
        reference[sampled++] = reference[t];
      }
    }
    return of(s, Arrays.copyOf(behaviour, sampled), Arrays.copyOf(reference, sampled));
  }
}
