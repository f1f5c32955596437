package io.troupe.engine.http.replica;

import java.util.Locale;

/**
 * Whether a server adds an adapter to the weights under it, as told by what it says of tokens.
 * Pure.
 *
 * <p>The run's own engine knows what a token is worth with the adapter and without it, so each
 * token at which these differ is a witness: with which of the two does the server agree? The
 * adapter's <em>part</em> of such a token is what the server says of it beyond the bare weights,
 * over what the run's engine says: 1 from a server that adds the adapter, 0 from one that passes it
 * over, 2 from one that scales it by twice as much.
 *
 * <p>A server's numbers are those of another arithmetic, which moves a token by some nats whether
 * an adapter is added or not. How many, and in which direction, is seen where none is asked for. A
 * token counts only if the adapter moves it by three times as much: below that, half precision may
 * lose an adapter that is added in good faith.
 *
 * <p>Given that the adapter is added, what is left over is as likely above as below, so the parts
 * nearer to 0 than to 1 are at most half of all, up to chance. The verdict needs a majority that
 * chance alone brings about once in a million times, whatever the distribution of what is left over
 * (the sign test); the same for parts nearer to 2. So a verdict takes 20 tokens that agree, and
 * more where some do not.
 */
public sealed interface AdapterEffect {
  /** By the evidence it does: so many parts of so many are nearest to 1. */
  record TokenAgreement(int agree, int tokens) implements AdapterEffect {}

  /** By the evidence it does not, or does otherwise. */
  record NotAdded(String how) implements AdapterEffect {}

  /** Not enough evidence for either. */
  record Inconclusive(String why) implements AdapterEffect {}

  /** Less than this is what two computations of the run's own engine may differ by. */
  double LEAST_NATS = 1e-3;

  /** So many times what the server's arithmetic moves a token by, an adapter must move it. */
  double TIMES = 3;

  /** How often chance may bring about a verdict. */
  double CHANCE = 1e-6;

  /**
   * What a server's arithmetic does to log-probabilities, as seen where no adapter is asked for.
   *
   * @param bias its mean, server's less own, in nats
   * @param size the mean of its absolute value, in nats
   */
  record Arithmetic(double bias, double size) {
    /**
     * Of tokens that were drawn without an adapter.
     *
     * @param theirs what the server says of them
     * @param own what the run's engine says of them without the adapter
     */
    static Arithmetic of(double[] theirs, double[] own) {
      double sum = 0;
      double size = 0;
      for (int t = 0; t < theirs.length; t++) {
        sum += theirs[t] - own[t];
        size += Math.abs(theirs[t] - own[t]);
      }
      return new Arithmetic(sum / theirs.length, size / theirs.length);
    }

    /** The least that an adapter must move a token by to make it count, in nats. */
    double floor() {
      return Math.max(LEAST_NATS, TIMES * size);
    }
  }

  /**
   * Weighs the evidence of tokens that a server drew with an adapter.
   *
   * @param theirs what the server says of each
   * @param with what the run's engine says of them with the adapter
   * @param without what it says of them without
   */
  static AdapterEffect of(double[] theirs, double[] with, double[] without, Arithmetic arithmetic) {
    int tokens = 0;
    int none = 0;
    int more = 0;
    double moved = 0;
    for (int t = 0; t < theirs.length; t++) {
      double move = with[t] - without[t];
      moved += Math.abs(move) / theirs.length;
      if (Math.abs(move) >= arithmetic.floor()) {
        double part = (theirs[t] - without[t] - arithmetic.bias()) / move;
        tokens++;
        none += part < 0.5 ? 1 : 0;
        more += part > 1.5 ? 1 : 0;
      }
    }
    int agree = tokens - none - more;
    String counted =
        String.format(
            Locale.ROOT,
            "of %d tokens that it drew with the adapter, which moves them by %.4f nats on average,"
                + " it moves %d by more than %.4f, three times what the server's arithmetic does;",
            theirs.length,
            moved,
            tokens,
            arithmetic.floor());
    if (chance(tokens, none) <= CHANCE) {
      return new NotAdded(
          "%s what the server says of %d of these is nearer to the bare weights: it passes the adapter over, or adds less of it than this run does"
              .formatted(counted, none));
    }
    if (chance(tokens, more) <= CHANCE) {
      return new NotAdded(
          "%s what the server says of %d of these is nearer to twice the adapter: it scales it otherwise than by lora_alpha / r"
              .formatted(counted, more));
    }
    return chance(tokens, agree) <= CHANCE
        ? new TokenAgreement(agree, tokens)
        : new Inconclusive(
            "%s %d of these agree, which tells nothing yet".formatted(counted, agree));
  }

  /** How likely so many heads or more are, of so many throws of a fair coin. */
  static double chance(int throwsOfIt, int heads) {
    double term = Math.pow(0.5, throwsOfIt); // of all heads; then of one less each time
    double sum = 0;
    for (int k = throwsOfIt; k >= heads; k--) {
      sum += term;
      term *= (double) k / (throwsOfIt - k + 1);
    }
    return sum;
  }
}
