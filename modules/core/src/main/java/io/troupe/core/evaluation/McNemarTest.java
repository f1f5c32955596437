package io.troupe.core.evaluation;

/**
 * The exact test of two policies on the same samples (McNemar 1947): whether those that only one of
 * them passes are equally likely to be either one's.
 *
 * @param onlyFirst samples that only the first policy passes
 * @param onlySecond samples that only the second policy passes
 */
public record McNemarTest(int onlyFirst, int onlySecond) {
  /** The two-sided p-value: {@code min(1, 2·P(X ≤ min(b, c)))}, X binomial with b + c and 1/2. */
  public double pValue() {
    int trials = onlyFirst + onlySecond;
    double logTerm = -trials * Math.log(2);
    double tail = 0;
    for (int i = 0; i <= Math.min(onlyFirst, onlySecond); i++) {
      tail += Math.exp(logTerm);
      logTerm += Math.log((double) (trials - i) / (i + 1));
    }
    return Math.min(1, 2 * tail);
  }
}
