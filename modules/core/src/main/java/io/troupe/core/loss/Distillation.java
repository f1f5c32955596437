package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import io.troupe.core.reward.PassMark;

/**
 * The loss of a policy that learns from a teacher's distributions over the K tokens the teacher
 * finds most likely at each position of its completions: {@link ScalarDistillation}. The term is
 * added to each trained token's loss and takes part in the same mean.
 */
public sealed interface Distillation {
  /** No teacher. */
  record None() implements Distillation {}

  /**
   * Generalised knowledge distillation: the generalised Jensen-Shannon divergence of teacher and
   * policy (Agarwal et al. 2024, eq. 1).
   *
   * @param coefficient of the term, finite, greater than 0
   * @param mix a: the share of the teacher in the mixture and of KL(teacher || mixture) in the
   *     divergence, in [0, 1]; 0 is the forward KL, KL(teacher || policy), and 1 the reverse
   * @param topK K, 1 or greater
   */
  record Jsd(double coefficient, double mix, int topK) implements Distillation {
    public Jsd {
      requireTerm(coefficient, topK);
      require(mix >= 0 && mix <= 1, "the mix of a distillation lies in [0, 1], not %s", mix);
    }
  }

  /**
   * On-policy self-distillation: KL(teacher || policy) over the teacher's K tokens.
   *
   * @param coefficient of the term, finite, greater than 0
   * @param topK K, 1 or greater
   * @param discardsPerfect whether completions that pass have no loss weight: the policy has
   *     nothing to learn from them
   * @param mark by which a completion passes
   */
  record ForwardKl(double coefficient, int topK, boolean discardsPerfect, PassMark mark)
      implements Distillation {
    public ForwardKl {
      requireTerm(coefficient, topK);
    }

    /** A divergence where completions pass with the full reward of 1. */
    public ForwardKl(double coefficient, int topK, boolean discardsPerfect) {
      this(coefficient, topK, discardsPerfect, PassMark.FULL);
    }
  }

  /** K; 0 without a teacher. */
  default int topK() {
    return switch (this) {
      case None() -> 0;
      case Jsd(double _, double _, int k) -> k;
      case ForwardKl(double _, int k, boolean _, var _) -> k;
    };
  }

  /** Whether a completion with this task reward is learnt from. */
  default boolean learnsFrom(double reward) {
    return !(this instanceof ForwardKl(double _, int _, boolean discards, PassMark mark))
        || !discards
        || !mark.passes(reward);
  }

  private static void requireTerm(double coefficient, int topK) {
    require(
        coefficient > 0 && Double.isFinite(coefficient),
        "the coefficient of a distillation is a finite number greater than 0, not %s",
        coefficient);
    require(topK >= 1, "a distillation takes 1 token of the teacher or more, not %d", topK);
  }
}
