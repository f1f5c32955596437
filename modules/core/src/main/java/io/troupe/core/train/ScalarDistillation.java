package io.troupe.core.train;

import static io.troupe.core.Require.require;

/**
 * The distillation term of one token in plain double-precision arithmetic.
 *
 * <p>Over the teacher's K tokens at a position, with T the teacher's probabilities renormalised to
 * sum to 1 and S the policy's of the same tokens, taken from its full distribution and not
 * renormalised:
 *
 * <pre>
 *   Jsd         a KL(T || M) + (1 - a) KL(S || M),   M = a T + (1 - a) S
 *   ForwardKl   KL(T || S)
 * </pre>
 *
 * <p>with KL(x || y) = sum x (log x - log y) over the K tokens. S does not sum to 1, so that a
 * divergence may be below 0, and KL(T || S) does not reach 0 before the policy has all its mass on
 * the K tokens: the rest of its mass is pulled there.
 *
 * <p>The sum that T is divided by is at least 1e-8, and a probability under a logarithm at least
 * 1e-12.
 */
public final class ScalarDistillation {
  private static final double SMALLEST_SUM = 1e-8;
  private static final double SMALLEST = 1e-12;

  private ScalarDistillation() {}

  /**
   * A token's term, times the distillation's coefficient.
   *
   * @param divergence the divergence itself, in nats, without the coefficient
   * @param value coefficient times divergence
   * @param derivatives of the value by each of the policy's K log-probabilities
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Term(double divergence, double value, double[] derivatives) {}

  /**
   * The term of one token.
   *
   * @param teacherLogProbs of the K tokens, not renormalised
   * @param logProbs the policy's, of the same tokens
   */
  public static Term token(Distillation distillation, float[] teacherLogProbs, double[] logProbs) {
    require(
        teacherLogProbs.length == logProbs.length,
        "%d tokens of a teacher need as many of the policy's log-probabilities, not %d",
        teacherLogProbs.length,
        logProbs.length);
    return switch (distillation) {
      case Distillation.None() -> new Term(0, 0, new double[logProbs.length]);
      case Distillation.Jsd(double coefficient, double mix, int _) ->
          jsd(coefficient, mix, renormalised(teacherLogProbs), logProbs);
      case Distillation.ForwardKl(double coefficient, int _, boolean _) ->
          forwardKl(coefficient, renormalised(teacherLogProbs), logProbs);
    };
  }

  private static Term jsd(double coefficient, double a, double[] teacher, double[] logProbs) {
    double[] derivatives = new double[logProbs.length];
    double sum = 0;
    for (int k = 0; k < logProbs.length; k++) {
      double t = teacher[k];
      double s = StrictMath.exp(logProbs[k]);
      double logM = log(a * t + (1 - a) * s);
      sum += a * t * (log(t) - logM) + (1 - a) * s * (log(s) - logM);
      // What M contributes cancels: d/ds of -a t log M - (1-a) s log M + (1-a) s log s leaves this.
      derivatives[k] = coefficient * (1 - a) * s * (log(s) - logM);
    }
    return new Term(sum, coefficient * sum, derivatives);
  }

  private static Term forwardKl(double coefficient, double[] teacher, double[] logProbs) {
    double[] derivatives = new double[logProbs.length];
    double sum = 0;
    for (int k = 0; k < logProbs.length; k++) {
      sum += teacher[k] * (log(teacher[k]) - logProbs[k]);
      derivatives[k] = -coefficient * teacher[k];
    }
    return new Term(sum, coefficient * sum, derivatives);
  }

  private static double[] renormalised(float[] logProbs) {
    double[] probabilities = new double[logProbs.length];
    double sum = 0;
    for (int k = 0; k < logProbs.length; k++) {
      probabilities[k] = StrictMath.exp(logProbs[k]);
      sum += probabilities[k];
    }
    for (int k = 0; k < logProbs.length; k++) {
      probabilities[k] /= Math.max(sum, SMALLEST_SUM);
    }
    return probabilities;
  }

  private static double log(double probability) {
    return StrictMath.log(Math.max(probability, SMALLEST));
  }
}
