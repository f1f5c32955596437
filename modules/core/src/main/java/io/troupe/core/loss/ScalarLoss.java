package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.List;

/**
 * The loss of a sequence in plain double-precision arithmetic: what a loss means, written as the
 * papers write it. Engines compute log-probabilities, ask this class for the loss and its
 * derivatives, and propagate those back.
 *
 * <p>Of one token, log p is the trainer's log-probability (the variable), log p' the trainer's at
 * the start of the step, log q the sampler's and log p_ref the reference policy's (constants), s
 * its staleness, and A its completion's advantage:
 *
 * <pre>
 *   rho        = p/q                                 Correction.None
 *              = p/p'                                TruncatedImportance, IcePop
 *              = p/p_prox                            Decoupled, log p_prox = log q + (s-1)/s (log p' - log q)
 *   w          = 1                                   None
 *              = min(p'/q, cap)                      TruncatedImportance
 *              = p'/q if low &lt;= p'/q &lt;= high, else 0   IcePop
 *              = p_prox/q if it is &lt;= cap, else 0   Decoupled, masked
 *              = min(p_prox/q, cap)                  Decoupled, truncated
 *   m          = 1, or 0 in a sequence that the SequenceMask refuses
 *   surrogate  = min(rho A, clip(rho, 1 - clipLow, 1 + clipHigh) A)     without clipping: rho A
 *   dual clip  max(surrogate, clipDual A) where A &lt; 0                     Ye et al. 2020
 *   loss       = -c (m w surrogate - beta kl) + distillation - alpha H
 * </pre>
 *
 * <p>(Schulman et al. 2017, eq. 7, with the two clip ranges of Yu et al. 2025, eq. 8, and the
 * penalty of Shao et al. 2024, eq. 3 and 4; the corrections have their sources on them.) Five
 * objectives have another surrogate:
 *
 * <pre>
 *   GSPO       rho = exp(1/n sum_t (log p - log q)) for all n trained tokens of the sequence
 *   CISPO      surrogate = clip(p'/q, 1 - clipLow, 1 + clipHigh) A log p
 *   SAPO       surrogate = 4/tau sigmoid(tau (rho - 1)) A, tau by the sign of A
 *   GMPO       surrogate = rho A, rho = exp(1/n sum_t x_t), with x = log p - log q,
 *              x_t = min(x, clip(x, -clipLow, clipHigh)) for A &gt; 0, else max of the two
 *   DPPO       surrogate = p/q A, or 0 where p - q &gt; clipHigh and A &gt; 0, or p - q &lt; -clipLow and A &lt; 0;
 *              where p/q &gt; 20 it is 20 (1 + log(p/q / 20)) A, whose derivative by log p stays 20 A
 *   Own        what the LossFunction gives
 * </pre>
 *
 * <p><b>Kinks.</b> The surrogate is not differentiable where rho equals an end of the clip range.
 * The derivative there is the one of the inner side, rho A, as autograd has it in PyTorch: a token
 * exactly at the end still learns. This matters when clipLow or clipHigh is 0, where an on-policy
 * token (rho = 1) is on the kink.
 *
 * <p>An exponential may overflow to infinity, when log-probabilities are hundreds of nats apart.
 * Where its weight is 0 it leaves nothing; else the result is whatever IEEE arithmetic makes of it,
 * and the engines skip such a step. StrictMath: the same loss on every machine.
 */
public final class ScalarLoss {
  private static final LossFunction.Surrogates NONE =
      new LossFunction.Surrogates(new double[0], new double[0]);

  private ScalarLoss() {}

  /**
   * The loss of one token, not weighted yet.
   *
   * @param value of the loss, without distillation
   * @param derivative d value / d log p; under GSPO, where a token's loss depends on all of its
   *     sequence, n times that
   * @param clippedLow whether the ratio to the sampler, p/q or GSPO's, lies below the clip range,
   *     whatever the advantage's sign; false without clipping
   * @param clippedHigh whether it lies above the clip range
   * @param truncated whether the correction's cap cut the weight
   * @param masked whether the weight is 0, by IcePop, the cap of Decoupled or the sequence mask
   * @param behaviourKl p/q - log(p/q) - 1: the k3 estimate of KL(sampler || trainer), 0 or greater
   * @param referenceKl estimate of KL(policy || reference); 0 without a penalty in the loss
   */
  public record TokenLoss(
      double value,
      double derivative,
      boolean clippedLow,
      boolean clippedHigh,
      boolean truncated,
      boolean masked,
      double behaviourKl,
      double referenceKl) {}

  /**
   * The trainer's values of a token.
   *
   * @param logProb log p, in nats
   * @param stepStartLogProb log p'; read when the settings have a correction, a sequence mask or
   *     CISPO only
   * @param behaviourLogProb log q
   * @param referenceLogProb log p_ref; read when the loss has a KL penalty only
   * @param staleness s, in versions
   */
  public record Token(
      double logProb,
      double stepStartLogProb,
      double behaviourLogProb,
      double referenceLogProb,
      int staleness) {}

  /**
   * The loss of a sequence.
   *
   * @param loss sum of weight times token loss, distillation left out
   * @param gradient of the loss by log p, an element a completion token; 0 where there is no weight
   * @param tokens tokens with a weight, in order
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record SequenceLoss(double loss, double[] gradient, List<TokenLoss> tokens) {}

  /** w, by which a correction multiplies a token's surrogate; the sequence mask is not in it. */
  public static double correctionWeight(LossSettings s, Token token) {
    return corrected(s.offPolicy().correction(), token, token.logProb - token.behaviourLogProb)
        .weight;
  }

  private record Term(double value, double derivative) {}

  /** A correction's ratio to the sampler's, and its weight. */
  private record Corrected(double logRatio, double weight, boolean truncated) {}

  /**
   * The loss of a token alone in its sequence, and its derivative by {@code logProb}.
   *
   * @param advantage A
   * @throws IllegalArgumentException if a number that is read is not finite
   */
  static TokenLoss token(LossSettings s, Token token, double advantage) {
    requireFinite("advantage", advantage);
    requireFinite(s, token);
    return token(
        s, token, advantage, token.logProb - token.behaviourLogProb, keeps(s, List.of(token)));
  }

  /**
   * The loss of a sequence and its gradient. Tokens of weight 0 are not looked at.
   *
   * @param tokens one a completion token
   */
  public static SequenceLoss sequence(
      LossSettings s, TrainingSequence sequence, List<Token> tokens) {
    float[] weights = sequence.lossWeights();
    require(
        tokens.size() == weights.length,
        "a sequence of %d completion tokens needs as many log-probabilities, not %d",
        weights.length,
        tokens.size());
    List<Token> trained = new ArrayList<>();
    double weightSum = 0;
    double logRatioSum = 0;
    for (int t = 0; t < weights.length; t++) {
      if (weights[t] != 0) {
        Token token = tokens.get(t);
        requireFinite(s, token);
        trained.add(token);
        weightSum += weights[t];
        double logRatio = token.logProb - token.behaviourLogProb;
        logRatioSum +=
            s.objective() instanceof Objective.Gmpo
                ? gmpoLogRatio(s, logRatio, sequence.advantage())
                : logRatio;
      }
    }
    double meanLogRatio = logRatioSum / Math.max(trained.size(), 1);
    double meanWeight = weightSum / Math.max(trained.size(), 1);
    boolean kept = keeps(s, trained);
    LossFunction.Surrogates own =
        s.objective() instanceof Objective.Own objective && !trained.isEmpty()
            ? objective.of(sequence.advantage(), List.copyOf(trained))
            : NONE;
    double loss = 0;
    double[] gradient = new double[weights.length];
    List<TokenLoss> losses = new ArrayList<>(trained.size());
    for (int t = 0; t < weights.length; t++) {
      if (weights[t] == 0) {
        continue;
      }
      int i = losses.size();
      TokenLoss token =
          s.objective() instanceof Objective.Own
              ? token(s, tokens.get(t), new Term(own.values()[i], own.derivatives()[i]), kept)
              : token(s, tokens.get(t), sequence.advantage(), meanLogRatio, kept);
      losses.add(token);
      loss += weights[t] * token.value;
      // Of a sequence's ratio every token has the n-th part, in the loss of each of the n tokens.
      boolean shared = s.objective().readsSequence();
      double penalty = shared ? penalty(s, tokens.get(t)).derivative : 0;
      gradient[t] =
          shared
              ? meanWeight * (token.derivative - penalty) + weights[t] * penalty
              : weights[t] * token.derivative;
    }
    return new SequenceLoss(loss, gradient, List.copyOf(losses));
  }

  private static TokenLoss token(
      LossSettings s, Token t, double advantage, double meanLogRatio, boolean kept) {
    double behind = t.logProb - t.behaviourLogProb;
    boolean bySequence = s.objective() instanceof Objective.Gspo;
    double samplerRatio = StrictMath.exp(bySequence ? meanLogRatio : behind);
    Corrected corrected = corrected(s.offPolicy().correction(), t, behind);
    Term term = // An advantage of 0 leaves nothing, also of a ratio that has overflowed.
        advantage == 0
            ? new Term(0, 0)
            : switch (s.objective()) {
              case Objective.Gspo() -> surrogate(s, samplerRatio, advantage);
              case Objective.Cispo() -> cispo(s, t, advantage);
              case Objective.Sapo(double positive, double negative) ->
                  sapo(
                      advantage > 0 ? positive : negative,
                      StrictMath.exp(corrected.logRatio),
                      advantage);
              case Objective.Gmpo() -> gmpo(s, behind, StrictMath.exp(meanLogRatio), advantage);
              case Objective.Dppo() -> dppo(s, t, samplerRatio, advantage);
              case Objective.Own own ->
                  throw new IllegalArgumentException(own + " reads sequences");
              case Objective.Grpo(), Objective.DrGrpo(double _), Objective.Dapo() ->
                  surrogate(s, StrictMath.exp(corrected.logRatio), advantage);
            };
    double distance =
        switch (s.objective()) {
          case Objective.Gmpo() -> behind;
          case Objective.Dppo() -> difference(t);
          case Objective.Grpo(),
              Objective.DrGrpo(double _),
              Objective.Dapo(),
              Objective.Gspo(),
              Objective.Cispo(),
              Objective.Sapo(double _, double _),
              Objective.Own _ ->
              samplerRatio - 1;
        };
    return token(s, t, term, corrected, distance, kept);
  }

  /** The loss of a token whose surrogate is known, without a correction. */
  private static TokenLoss token(LossSettings s, Token t, Term surrogate, boolean kept) {
    double behind = t.logProb - t.behaviourLogProb;
    return token(s, t, surrogate, new Corrected(behind, 1, false), 0, kept);
  }

  private static TokenLoss token(
      LossSettings s, Token t, Term term, Corrected corrected, double distance, boolean kept) {
    double behind = t.logProb - t.behaviourLogProb;
    double weight = kept ? corrected.weight : 0;
    Term kl = penalty(s, t);
    double gain = s.shares().policy() * weight;
    return new TokenLoss(
        kl.value - times(gain, term.value),
        kl.derivative - times(gain, term.derivative),
        s.clip().active() && distance < -s.clip().low(),
        s.clip().active() && distance > s.clip().high(),
        corrected.truncated,
        weight == 0,
        StrictMath.expm1(behind) - behind,
        s.penalisesLoss() ? s.kl().estimator().value(t.referenceLogProb - t.logProb) : 0);
  }

  /** A weight of 0 leaves nothing, also of a surrogate that has overflowed. */
  private static double times(double weight, double surrogate) {
    return weight == 0 ? 0 : weight * surrogate;
  }

  private static Corrected corrected(Correction correction, Token t, double behind) {
    double start = t.stepStartLogProb - t.behaviourLogProb;
    return switch (correction) {
      case Correction.None() -> new Corrected(behind, 1, false);
      case Correction.TruncatedImportance(double cap) -> {
        double ratio = StrictMath.exp(start);
        yield new Corrected(t.logProb - t.stepStartLogProb, Math.min(ratio, cap), ratio > cap);
      }
      case Correction.IcePop(double low, double high) -> {
        double ratio = StrictMath.exp(start);
        boolean inside = ratio >= low && ratio <= high;
        yield new Corrected(t.logProb - t.stepStartLogProb, inside ? ratio : 0, false);
      }
      case Correction.Decoupled(double cap, Correction.OverCap over) -> {
        double proximal = start * Correction.Decoupled.share(t.staleness);
        double ratio = StrictMath.exp(proximal);
        yield switch (over) {
          case MASKED -> new Corrected(behind - proximal, ratio > cap ? 0 : ratio, false);
          case TRUNCATED -> new Corrected(behind - proximal, Math.min(ratio, cap), ratio > cap);
        };
      }
    };
  }

  private static Term surrogate(LossSettings s, double ratio, double advantage) {
    double free = ratio * advantage;
    double dual = s.clip().dual();
    if (dual > 0 && advantage < 0 && ratio > dual) {
      return new Term(dual * advantage, 0);
    }
    if (!s.clip().active()) {
      return new Term(free, free);
    }
    double clipped = Math.clamp(ratio, 1 - s.clip().low(), 1 + s.clip().high()) * advantage;
    return clipped < free ? new Term(clipped, 0) : new Term(free, free);
  }

  private static Term cispo(LossSettings s, Token t, double advantage) {
    double ratio = StrictMath.exp(t.stepStartLogProb - t.behaviourLogProb);
    double weight =
        s.clip().active() ? Math.clamp(ratio, 1 - s.clip().low(), 1 + s.clip().high()) : ratio;
    return new Term(weight * advantage * t.logProb, weight * advantage);
  }

  private static Term sapo(double tau, double ratio, double advantage) {
    double gate = 1 / (1 + StrictMath.exp(-tau * (ratio - 1)));
    double slope = gate * (1 - gate);
    return new Term(4 / tau * gate * advantage, slope == 0 ? 0 : 4 * slope * ratio * advantage);
  }

  /**
   * Returns the log-ratio of a token that enters the geometric mean: the more pessimistic of the
   * ratio and its clipped value.
   */
  private static double gmpoLogRatio(LossSettings s, double logRatio, double advantage) {
    if (!s.clip().active()) {
      return logRatio;
    }
    double clipped = Math.clamp(logRatio, -s.clip().low(), s.clip().high());
    return advantage > 0 ? Math.min(logRatio, clipped) : Math.max(logRatio, clipped);
  }

  private static Term gmpo(LossSettings s, double logRatio, double ratio, double advantage) {
    boolean free = gmpoLogRatio(s, logRatio, advantage) == logRatio;
    return new Term(ratio * advantage, free ? ratio * advantage : 0);
  }

  private static Term dppo(LossSettings s, Token t, double ratio, double advantage) {
    double d = difference(t);
    boolean leaves =
        s.clip().active()
            && (advantage > 0 ? d > s.clip().high() : advantage < 0 && d < -s.clip().low());
    if (leaves) {
      return new Term(0, 0);
    }
    double weight = Math.min(ratio, Objective.Dppo.MOST_RATIO);
    double beyond = // In nats, since the ratio itself may overflow.
        ratio > weight
            ? t.logProb - t.behaviourLogProb - StrictMath.log(Objective.Dppo.MOST_RATIO)
            : 0;
    return new Term(weight * (1 + beyond) * advantage, weight * advantage);
  }

  /** p - q: of a token and all others as one, the total variation. */
  private static double difference(Token t) {
    return StrictMath.exp(t.logProb) - StrictMath.exp(t.behaviourLogProb);
  }

  /** The penalty of a token with its coefficients. */
  private static Term penalty(LossSettings s, Token t) {
    if (!s.penalisesLoss()) {
      return new Term(0, 0);
    }
    double d = t.referenceLogProb - t.logProb;
    double beta = s.shares().policy() * s.kl().coefficient();
    return new Term(beta * s.kl().estimator().value(d), beta * s.kl().estimator().derivative(d));
  }

  private static boolean keeps(LossSettings s, List<Token> trained) {
    return switch (s.offPolicy().mask()) {
      case SequenceMask.None() -> true;
      case SequenceMask.Geometric(double low, double high) -> {
        double sum = 0;
        for (Token t : trained) {
          sum += t.stepStartLogProb - t.behaviourLogProb;
        }
        yield within(sum / Math.max(trained.size(), 1), low, high);
      }
      case SequenceMask.Outlier(double low, double high) ->
          trained.stream()
              .allMatch(t -> within(t.stepStartLogProb - t.behaviourLogProb, low, high));
    };
  }

  private static boolean within(double logRatio, double low, double high) {
    double ratio = StrictMath.exp(logRatio);
    return ratio >= low && ratio <= high;
  }

  private static void requireFinite(LossSettings s, Token t) {
    requireFinite("log-probability", t.logProb);
    requireFinite("behaviour log-probability", t.behaviourLogProb);
    if (!(s.offPolicy().correction() instanceof Correction.None)
        || !(s.offPolicy().mask() instanceof SequenceMask.None)
        || s.objective() instanceof Objective.Cispo
        || s.objective() instanceof Objective.Own) {
      requireFinite("log-probability at the step's start", t.stepStartLogProb);
    }
    if (s.penalisesLoss()) {
      requireFinite("reference log-probability", t.referenceLogProb);
    }
  }

  private static void requireFinite(String what, double value) {
    require(Double.isFinite(value), "a token's %s is a finite number, not %s", what, value);
  }
}
