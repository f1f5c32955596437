package io.troupe.core.evaluation;

import static io.troupe.core.Require.require;

/**
 * The unbiased estimate of pass@k (Chen et al. 2021, "Evaluating Large Language Models Trained on
 * Code", equation 1): the probability that at least one of k samples passes, {@code 1 − C(n − c, k)
 * / C(n, k)}.
 */
public final class PassAtK {
  private PassAtK() {}

  /**
   * The estimate of one prompt, as the product {@code 1 − Π (1 − k / i)} over i from n − c + 1 to
   * n, which does not overflow.
   *
   * @param n samples, at least k
   * @param c number of samples that passed
   * @param k 1 or greater
   */
  public static double of(int n, int c, int k) {
    require(k >= 1 && k <= n, "k of pass@k is from 1 to the number of samples (%d), not %d", n, k);
    require(c >= 0 && c <= n, "of %d samples from 0 to %d pass, not %d", n, n, c);
    if (n - c < k) {
      return 1;
    }
    if (k == 1) {
      return (double) c / n; // what the product comes to, without its rounding
    }
    double fail = 1;
    for (int i = n - c + 1; i <= n; i++) {
      fail *= 1 - (double) k / i;
    }
    return 1 - fail;
  }
}
