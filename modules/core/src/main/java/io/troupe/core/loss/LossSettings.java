package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import io.troupe.core.advantage.AdvantageRule;
import java.util.Locale;

/**
 * A loss, fully determined: {@link ScalarLoss} is what it means, {@link LossFormula} prints it.
 *
 * @param objective surrogate and denominator
 * @param baseline number to which an advantage compares a reward
 * @param clip range of the surrogate's ratio
 * @param offPolicy treatment of tokens of other weights
 * @param kl the penalty towards the reference policy
 * @param shares coefficients of the parts of the loss
 * @param overlong treatment of completions that come near their token limit
 * @param temperature logits are divided by it, in the trainer as in the sampler; finite, greater
 *     than 0
 */
public record LossSettings(
    Objective objective,
    AdvantageRule baseline,
    Clip clip,
    OffPolicy offPolicy,
    KlPenalty kl,
    Shares shares,
    Overlong overlong,
    double temperature) {
  /**
   * The range [1 - low, 1 + high] of the surrogate's ratio.
   *
   * @param low in [0, 1]
   * @param high finite, 0 or greater; both 0 means no clipping, and one alone 0 a range that ends
   *     at 1
   * @param dual bound for A &lt; 0: the surrogate is at least this times A; finite, greater than 1;
   *     0 means no such bound
   */
  public record Clip(double low, double high, double dual) {
    /** Without the second bound. */
    public Clip(double low, double high) {
      this(low, high, 0);
    }

    public Clip {
      require(low >= 0 && low <= 1, "clip_low lies in [0, 1], not %s", low);
      require(
          high >= 0 && Double.isFinite(high),
          "clip_high is a finite number, 0 or greater, not %s",
          high);
      require(
          dual == 0 || (dual > 1 && Double.isFinite(dual)),
          "clip_dual is 0 or a finite number greater than 1, not %s",
          dual);
    }

    /** Whether the surrogate is clipped at all. */
    public boolean active() {
      return low > 0 || high > 0;
    }
  }

  /**
   * The loss's treatment of tokens that other weights sampled.
   *
   * @param correction denominator of the ratio, and the weight of a token
   * @param mask rule for sequences that are too far from their sampler
   */
  public record OffPolicy(Correction correction, SequenceMask mask) {}

  /**
   * The penalty towards the reference policy.
   *
   * @param coefficient beta, finite, 0 or greater; 0 means that the loss needs no reference
   * @param estimator estimator of the penalty
   * @param place whether the penalty is in the loss or in the reward
   */
  public record KlPenalty(double coefficient, KlEstimator estimator, KlPlacement place) {
    public KlPenalty {
      requireCoefficient("KL", coefficient);
    }
  }

  /**
   * The coefficients of the parts of the loss.
   *
   * @param policy of surrogate and penalty, not of distillation; finite, 0 or greater
   * @param distillation loss towards a teacher, with its own coefficient
   * @param supervised of the examples that a step imitates beside its rollouts; finite, 0 or
   *     greater; 0 means that a step has none
   * @param entropy of the policy's entropy at each trained token, which the loss rewards; finite, 0
   *     or greater
   */
  public record Shares(
      double policy, Distillation distillation, double supervised, double entropy) {
    /** Without a bonus for entropy. */
    public Shares(double policy, Distillation distillation, double supervised) {
      this(policy, distillation, supervised, 0);
    }

    public Shares {
      requireCoefficient("policy", policy);
      requireCoefficient("supervised", supervised);
      requireCoefficient("entropy", entropy);
    }
  }

  public LossSettings {
    require(
        temperature > 0 && Double.isFinite(temperature),
        "the temperature of a loss is a finite number greater than 0, not %s",
        temperature);
    require(
        !objective.correctsItself() || offPolicy.correction instanceof Correction.None,
        "%s takes its ratio to the sampler itself and goes with no correction, not with %s",
        objective.getClass().getSimpleName().toUpperCase(Locale.ROOT),
        offPolicy.correction);
    require(
        clip.dual == 0 || objective.takesDualClip(),
        "clip_dual goes with GRPO, DRGRPO, DAPO and GSPO, not with %s",
        objective.getClass().getSimpleName().toUpperCase(Locale.ROOT));
  }

  /** The loss of a paper: its own advantage, a penalty in the loss, no teacher, nothing masked. */
  public LossSettings(
      Objective objective,
      double clipLow,
      double clipHigh,
      Correction correction,
      double klCoefficient,
      KlEstimator klEstimator,
      double temperature) {
    this(
        objective,
        objective.baseline(),
        new Clip(clipLow, clipHigh),
        new OffPolicy(correction, new SequenceMask.None()),
        new KlPenalty(klCoefficient, klEstimator, KlPlacement.LOSS),
        new Shares(1, new Distillation.None(), 0),
        Overlong.KEPT,
        temperature);
  }

  private static void requireCoefficient(String what, double value) {
    require(
        value >= 0 && Double.isFinite(value),
        "the %s coefficient is a finite number, 0 or greater, not %s",
        what,
        value);
  }

  /** Whether the loss has a penalty, and so needs the reference's log-probabilities. */
  public boolean penalisesLoss() {
    return kl.coefficient > 0 && kl.place == KlPlacement.LOSS;
  }

  /** Whether rewards have a penalty. */
  public boolean penalisesReward() {
    return kl.coefficient > 0 && kl.place == KlPlacement.REWARD;
  }

  /** Whether the loss has a bonus for entropy, and so needs the gradient of the entropy. */
  public boolean rewardsEntropy() {
    return shares.entropy > 0;
  }

  /** Whether a step asks a teacher. */
  public boolean distils() {
    return shares.distillation.topK() > 0;
  }

  /** Whether a teacher is all that a step's rollouts learn from. */
  public boolean distilsAlone() {
    return distils() && shares.policy == 0;
  }

  /**
   * Whether a step reads the reference policy.
   *
   * @param teacher whether there is a teacher beside it; without one it teaches
   */
  public boolean readsReference(boolean teacher) {
    return kl.coefficient > 0 || (distils() && !teacher);
  }

  /** Returns this loss with another baseline. */
  public LossSettings with(AdvantageRule other) {
    return new LossSettings(objective, other, clip, offPolicy, kl, shares, overlong, temperature);
  }

  /** Returns this loss with another sequence mask. */
  public LossSettings with(SequenceMask other) {
    OffPolicy masked = new OffPolicy(offPolicy.correction, other);
    return new LossSettings(objective, baseline, clip, masked, kl, shares, overlong, temperature);
  }

  /** Returns this loss with the penalty in another place. */
  public LossSettings with(KlPlacement other) {
    KlPenalty moved = new KlPenalty(kl.coefficient, kl.estimator, other);
    return new LossSettings(
        objective, baseline, clip, offPolicy, moved, shares, overlong, temperature);
  }

  /** Returns this loss with other shares of its parts. */
  public LossSettings with(Shares other) {
    return new LossSettings(objective, baseline, clip, offPolicy, kl, other, overlong, temperature);
  }

  /** Returns this loss with another distillation, and the policy gradient's share beside it. */
  public LossSettings with(Distillation other, double policyShare) {
    return with(new Shares(policyShare, other, shares.supervised, shares.entropy));
  }

  /** Returns this loss with another rule for long completions. */
  public LossSettings with(Overlong other) {
    return new LossSettings(objective, baseline, clip, offPolicy, kl, shares, other, temperature);
  }

  /** Returns this loss with examples to imitate beside the rollouts. */
  public LossSettings withSupervised(double coefficient) {
    return with(new Shares(shares.policy, shares.distillation, coefficient, shares.entropy));
  }

  /** Returns this loss with a bonus for entropy. */
  public LossSettings withEntropy(double coefficient) {
    return with(new Shares(shares.policy, shares.distillation, shares.supervised, coefficient));
  }
}
