package io.troupe.core.loss;

import static io.troupe.core.Require.require;

/**
 * The distillation term of one token in plain double-precision arithmetic.
 *
 * <p>Over the teacher's K tokens at a position, with T the teacher's probabilities renormalised to
 * sum to 1 and S the policy's of the same tokens, taken from its full distribution and not
 * renormalised:
 *
 * <pre>
 *   Jsd         a KL(T || M) + (1 - a) KL(S || M),   M = a T + (1 - a) S,   0 &lt; a &lt; 1
 *     a = 0     KL(T || S) - sum T + sum S           the limit of Jsd / a
 *     a = 1     KL(S || T) - sum S + sum T           the limit of Jsd / (1 - a)
 *   ForwardKl   KL(T || S)
 * </pre>
 *
 * <p>with KL(x || y) = sum x (log x - log y) over the K tokens. S does not sum to 1, so that a
 * divergence may be below 0, and KL(T || S) does not reach 0 before the policy has all its mass on
 * the K tokens: the rest of its mass is pulled there.
 *
 * <p><b>The ends of a.</b> At a = 0 and a = 1 the mixture is one of the two distributions, and the
 * Jensen-Shannon divergence is 0 with all its derivatives, whatever the policy. What has a meaning
 * there is its direction: the limits above, in which the two sums are what is left of M. Over the
 * whole vocabulary both sums are 1, and the limits are the forward and the reverse KL divergence
 * that GKD (Agarwal et al. 2024) is described to end in. Between the ends nothing is rescaled: by a
 * log-probability the derivative of a Jsd is about a times the one at 0 near 0, and about (1 - a)
 * times the one at 1 near 1.
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
      case Distillation.Jsd(double coefficient, double mix, int _) -> {
        double[] teacher = renormalised(teacherLogProbs);
        if (mix == 0) {
          yield forwardLimit(coefficient, teacher, logProbs);
        }
        yield mix == 1
            ? reverseLimit(coefficient, teacher, logProbs)
            : jsd(coefficient, mix, teacher, logProbs);
      }
      case Distillation.ForwardKl(double coefficient, int _, boolean _, var _) ->
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
      // The contribution of M cancels: d/ds of -a t log M - (1-a) s log M + (1-a) s log s leaves
      // this.
      derivatives[k] = coefficient * (1 - a) * s * (log(s) - logM);
    }
    return new Term(sum, coefficient * sum, derivatives);
  }

  private static Term forwardLimit(double coefficient, double[] teacher, double[] logProbs) {
    double[] derivatives = new double[logProbs.length];
    double sum = 0;
    for (int k = 0; k < logProbs.length; k++) {
      double t = teacher[k];
      double s = StrictMath.exp(logProbs[k]);
      sum += t * (log(t) - logProbs[k]) - t + s;
      derivatives[k] = coefficient * (s - t);
    }
    return new Term(sum, coefficient * sum, derivatives);
  }

  private static Term reverseLimit(double coefficient, double[] teacher, double[] logProbs) {
    double[] derivatives = new double[logProbs.length];
    double sum = 0;
    for (int k = 0; k < logProbs.length; k++) {
      double t = teacher[k];
      double s = StrictMath.exp(logProbs[k]);
      double gap = logProbs[k] - log(t);
      sum += s * gap - s + t;
      derivatives[k] = coefficient * s * gap;
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
