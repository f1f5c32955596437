package io.troupe.core.train;

/** Where the penalty towards the reference policy acts. */
public enum KlPlace {
  /** A term of each token's loss (Shao et al. 2024, eq. 3). */
  LOSS,
  /**
   * Taken from a completion's reward before advantages are computed: {@link RewardPenalty} (Ziegler
   * et al. 2019, eq. 2).
   */
  REWARD
}
