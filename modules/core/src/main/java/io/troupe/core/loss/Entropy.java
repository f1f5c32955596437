package io.troupe.core.loss;

/**
 * The entropy of a policy at one position, H = -sum_v p_v log p_v in nats, and its derivative by
 * the logits.
 *
 * <p>With p = softmax(z / tau):
 *
 * <pre>
 *   d H / d z_v = -p_v (log p_v + H) / tau
 * </pre>
 *
 * <p>The derivatives sum to 0, and all are 0 where the distribution is uniform, the maximum.
 */
public final class Entropy {
  private Entropy() {}

  /**
   * Returns H.
   *
   * @param logProbs log p of the whole vocabulary, in nats
   */
  public static double of(double[] logProbs) {
    double entropy = 0;
    for (double logProb : logProbs) {
      entropy -= Math.exp(logProb) * logProb;
    }
    return entropy;
  }

  /**
   * Returns the derivatives of H by the logits.
   *
   * @param logProbs log p of the whole vocabulary, in nats
   * @param temperature tau, greater than 0
   */
  public static double[] byLogits(double[] logProbs, double temperature) {
    double entropy = of(logProbs);
    double[] derivatives = new double[logProbs.length];
    for (int v = 0; v < derivatives.length; v++) {
      derivatives[v] = -Math.exp(logProbs[v]) * (logProbs[v] + entropy) / temperature;
    }
    return derivatives;
  }
}
