package io.troupe.core.loss;

/** The place where the penalty towards the reference policy acts. */
public enum KlPlacement {
  /** A term of each token's loss (Shao et al. 2024, eq. 3). */
  LOSS,
  /**
   * Taken from a completion's reward before advantages are computed: {@link KlRewardPenalty}
   * (Ziegler et al. 2019, eq. 2).
   */
  REWARD
}
