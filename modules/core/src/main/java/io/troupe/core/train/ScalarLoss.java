package io.troupe.core.train;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * The token loss in plain double-precision arithmetic: the oracle the tensor engines are tested
 * against, written as the papers write it.
 *
 * <p>Of one token, log p is the trainer's log-probability (the variable), log p' the trainer's at
 * the start of the step, log q the sampler's and log p_ref the reference policy's (constants), and
 * A its completion's advantage:
 *
 * <pre>
 *   rho        = p/q                                 Correction.None
 *              = p/p'                                Correction.TruncatedImportance
 *   w          = 1, or min(p'/q, cap)
 *   surrogate  = min(rho A, clip(rho, 1 - clipLow, 1 + clipHigh) A)     without clipping: rho A
 *   loss       = -(w surrogate - beta kl)
 * </pre>
 *
 * <p>(Schulman et al. 2017, eq. 7, with the two clip ranges of Yu et al. 2025, eq. 8, the penalty
 * of Shao et al. 2024, eq. 3 and 4, and the decoupled ratio of Hilton et al. 2021.)
 *
 * <p><b>Kinks.</b> The surrogate is not differentiable where rho equals an end of the clip range.
 * The derivative there is the one of the inner side, rho A, as autograd has it in PyTorch: a token
 * exactly at the end still learns. This matters when clipLow or clipHigh is 0, where an on-policy
 * token (rho = 1) stands on the kink.
 *
 * <p>An exponential may overflow to infinity, when log-probabilities are hundreds of nats apart.
 * The result is then whatever IEEE arithmetic makes of it, as in the engines, which skip such a
 * step.
 */
public final class ScalarLoss {
  private ScalarLoss() {}

  /**
   * The loss of one token, not weighted yet.
   *
   * @param value of the loss
   * @param derivative d value / d log p
   * @param clippedLow whether p/q lies below the clip range, whatever the advantage's sign; false
   *     without clipping
   * @param clippedHigh whether p/q lies above the clip range
   * @param behaviourKl p/q - log(p/q) - 1: the k3 estimate of KL(sampler || trainer), 0 or greater
   * @param referenceKl estimate of KL(policy || reference); 0 without a reference
   */
  public record TokenLoss(
      double value,
      double derivative,
      boolean clippedLow,
      boolean clippedHigh,
      double behaviourKl,
      double referenceKl) {}

  /**
   * What a whole step comes to. Means and shares are over the tokens with a loss weight above 0,
   * each counting once; they are 0 when there is none.
   *
   * @param loss sum of weight times token loss
   * @param behaviourKl mean of the tokens' {@link TokenLoss#behaviourKl}
   * @param behaviourGap largest |log p - log q|, in nats
   * @param referenceKl mean of the tokens' {@link TokenLoss#referenceKl}
   * @param clippedLow share of tokens, in [0, 1]
   * @param clippedHigh share of tokens, in [0, 1]
   * @param tokens how many
   */
  public record StepLoss(
      double loss,
      double behaviourKl,
      double behaviourGap,
      double referenceKl,
      double clippedLow,
      double clippedHigh,
      long tokens) {}

  private record Term(double value, double derivative) {}

  /**
   * The loss of one token and its derivative by {@code logProb}.
   *
   * @param logProb log p, in nats
   * @param stepStartLogProb log p'; read under {@link Correction.TruncatedImportance} only
   * @param behaviourLogProb log q
   * @param referenceLogProb log p_ref; read when the KL coefficient is above 0 only
   * @param advantage A
   * @throws IllegalArgumentException if a number that is read is not finite
   */
  public static TokenLoss token(
      LossSettings s,
      double logProb,
      double stepStartLogProb,
      double behaviourLogProb,
      double referenceLogProb,
      double advantage) {
    requireFinite("log-probability", logProb);
    requireFinite("behaviour log-probability", behaviourLogProb);
    requireFinite("advantage", advantage);
    double logRatio = logProb - behaviourLogProb;
    double behaviourRatio = Math.exp(logRatio);
    Term policy =
        switch (s.correction()) {
          case Correction.None() -> surrogate(s, behaviourRatio, advantage);
          case Correction.TruncatedImportance(double cap) -> {
            requireFinite("log-probability at the step's start", stepStartLogProb);
            double weight = Math.min(Math.exp(stepStartLogProb - behaviourLogProb), cap);
            Term term = surrogate(s, Math.exp(logProb - stepStartLogProb), advantage);
            yield new Term(weight * term.value, weight * term.derivative);
          }
        };
    double beta = s.klCoefficient();
    Term kl = new Term(0, 0);
    if (beta > 0) {
      requireFinite("reference log-probability", referenceLogProb);
      kl = kl(s.klEstimator(), referenceLogProb - logProb);
    }
    return new TokenLoss(
        -(policy.value - beta * kl.value),
        -(policy.derivative - beta * kl.derivative),
        s.clips() && behaviourRatio < 1 - s.clipLow(),
        s.clips() && behaviourRatio > 1 + s.clipHigh(),
        Math.expm1(logRatio) - logRatio,
        kl.value);
  }

  /**
   * The loss of a step: the sum over sequences and tokens of lossWeight times {@link #token}.
   * Tokens of weight 0 are not looked at.
   *
   * @param logProbs log p, an array a sequence, an element a completion token
   * @param stepStartLogProbs log p', of the same shape; not read under {@link Correction.None},
   *     where {@code logProbs} may stand in
   * @param referenceLogProbs log p_ref, of the same shape; not read when the KL coefficient is 0,
   *     where {@code logProbs} may stand in
   */
  public static StepLoss step(
      LossSettings s,
      List<TrainingSequence> batch,
      List<double[]> logProbs,
      List<double[]> stepStartLogProbs,
      List<double[]> referenceLogProbs) {
    requireShape("log-probabilities", batch, logProbs);
    requireShape("log-probabilities of the step's start", batch, stepStartLogProbs);
    requireShape("reference log-probabilities", batch, referenceLogProbs);
    double loss = 0;
    double behaviourKl = 0;
    double behaviourGap = 0;
    double referenceKl = 0;
    long low = 0;
    long high = 0;
    long tokens = 0;
    for (int i = 0; i < batch.size(); i++) {
      TrainingSequence sequence = batch.get(i);
      for (int t = 0; t < sequence.completion().length; t++) {
        if (sequence.lossWeights()[t] == 0) {
          continue;
        }
        double logProb = logProbs.get(i)[t];
        double behaviour = sequence.behaviourLogProbs()[t];
        TokenLoss token =
            token(
                s,
                logProb,
                stepStartLogProbs.get(i)[t],
                behaviour,
                referenceLogProbs.get(i)[t],
                sequence.advantage());
        loss += sequence.lossWeights()[t] * token.value;
        behaviourKl += token.behaviourKl;
        behaviourGap = Math.max(behaviourGap, Math.abs(logProb - behaviour));
        referenceKl += token.referenceKl;
        low += token.clippedLow ? 1 : 0;
        high += token.clippedHigh ? 1 : 0;
        tokens++;
      }
    }
    double n = Math.max(tokens, 1);
    return new StepLoss(
        loss, behaviourKl / n, behaviourGap, referenceKl / n, low / n, high / n, tokens);
  }

  /**
   * The loss of an imitation step: the weighted negative log-likelihood of the completions, the sum
   * of lossWeight times -log p. Advantages and behaviour log-probabilities are not read. Its
   * derivative by a token's log p is minus the token's weight.
   *
   * @param logProbs log p at temperature 1, an array a sequence, an element a completion token
   */
  public static double imitation(List<TrainingSequence> batch, List<double[]> logProbs) {
    requireShape("log-probabilities", batch, logProbs);
    double loss = 0;
    for (int i = 0; i < batch.size(); i++) {
      float[] weights = batch.get(i).lossWeights();
      for (int t = 0; t < weights.length; t++) {
        if (weights[t] != 0) {
          loss -= weights[t] * logProbs.get(i)[t];
        }
      }
    }
    return loss;
  }

  private static Term surrogate(LossSettings s, double ratio, double advantage) {
    double free = ratio * advantage;
    if (!s.clips()) {
      return new Term(free, free);
    }
    double clipped = Math.clamp(ratio, 1 - s.clipLow(), 1 + s.clipHigh()) * advantage;
    return clipped < free ? new Term(clipped, 0) : new Term(free, free);
  }

  /** The estimate and its derivative by log p, given d = log p_ref - log p; note dd/dlog p = -1. */
  private static Term kl(KlEstimator estimator, double d) {
    return switch (estimator) {
      case K1 -> new Term(-d, 1);
      case K2 -> new Term(d * d / 2, -d);
      case K3 -> new Term(Math.expm1(d) - d, -Math.expm1(d));
    };
  }

  private static void requireFinite(String what, double value) {
    require(Double.isFinite(value), "a token's %s is a finite number, not %s", what, value);
  }

  private static void requireShape(
      String what, List<TrainingSequence> batch, List<double[]> values) {
    require(
        values.size() == batch.size(),
        "%d sequences need as many arrays of %s, not %d",
        batch.size(),
        what,
        values.size());
    for (int i = 0; i < batch.size(); i++) {
      require(
          values.get(i).length == batch.get(i).completion().length,
          "sequence %d has %d completion tokens and needs as many %s, not %d",
          i,
          batch.get(i).completion().length,
          what,
          values.get(i).length);
    }
  }
}
