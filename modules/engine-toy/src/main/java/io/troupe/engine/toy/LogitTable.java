package io.troupe.engine.toy;

/**
 * The toy policy's mathematics: a table of logits, with one row for each position p in the
 * completion and each sum of the prompt's token ids.
 *
 * <pre>
 *   logits(p, prompt) = W[p, (sum of the prompt's ids) mod rows]
 * </pre>
 *
 * <p>Digits have consecutive ids, so that all prompts whose operands have the same sum share rows:
 * single-digit addition is exactly representable, and a policy that learns 3+4 also learns 5+2,
 * which may be held out. Terms for single operands are left out on purpose: with them, a policy
 * learns from the pairs it trains on that 8+b never ends in the digit that only the held-out b
 * gives.
 *
 * <p>The policy sees only the length of the completion so far, not its tokens; where the prompt
 * determines the answer, this loses nothing.
 */
final class LogitTable {
  /** The name of the only tensor. */
  static final String TENSOR = "sums.weight";

  private final int vocabulary;
  private final int positions;
  private final int rows;

  LogitTable(ToySettings settings, int vocabulary) {
    this.vocabulary = vocabulary;
    this.positions = settings.positions();
    this.rows = settings.rows();
  }

  /** Positions, rows, tokens. */
  long[] shape() {
    return new long[] {positions, rows, vocabulary};
  }

  int parameters() {
    return Math.toIntExact((long) positions * rows * vocabulary);
  }

  int vocabulary() {
    return vocabulary;
  }

  /**
   * Returns the index of the first logit of the token at a position, from 0, of a prompt's
   * completion.
   */
  int row(int[] prompt, int position) {
    int sum = 0;
    for (int token : prompt) {
      sum += token;
    }
    return (Math.min(position, positions - 1) * rows + Math.floorMod(sum, rows)) * vocabulary;
  }

  /** Returns the log-probabilities of all tokens, in nats, at a temperature greater than 0. */
  double[] logProbs(float[] weights, int row, double temperature) {
    double[] logits = new double[vocabulary];
    double greatest = Double.NEGATIVE_INFINITY;
    for (int k = 0; k < vocabulary; k++) {
      logits[k] = weights[row + k] / temperature;
      greatest = Math.max(greatest, logits[k]);
    }
    double sum = 0;
    for (double logit : logits) {
      sum += Math.exp(logit - greatest);
    }
    double normaliser = greatest + Math.log(sum);
    for (int k = 0; k < vocabulary; k++) {
      logits[k] -= normaliser;
    }
    return logits;
  }

  /** Returns the token with the greatest logit; of equal logits the first. */
  int argmax(float[] weights, int row) {
    int best = 0;
    for (int k = 1; k < vocabulary; k++) {
      best = weights[row + k] > weights[row + best] ? k : best;
    }
    return best;
  }

  /**
   * Adds one token's gradient: with pi the distribution at the temperature tau, the derivative of
   * log pi(token) by logit k is ([k = token] - pi(k)) / tau.
   *
   * @param logProbs log pi
   * @param scale d loss / d log pi(token)
   */
  void addGradient(
      double[] gradient, int row, double[] logProbs, int token, double scale, double temperature) {
    for (int k = 0; k < vocabulary; k++) {
      double indicator = k == token ? 1 : 0;
      gradient[row + k] += scale * (indicator - Math.exp(logProbs[k])) / temperature;
    }
  }
}
