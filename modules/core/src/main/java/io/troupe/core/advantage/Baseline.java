package io.troupe.core.advantage;

/**
 * The number to which the rewards of a group are compared, and the unit of the difference: {@link
 * Advantages}.
 */
public enum Baseline implements AdvantageRule {
  /** The group's mean, in units of its standard deviation: GRPO (Shao et al. 2024). */
  STANDARDISED,
  /** The group's mean, in units of the unbiased deviation, as TRL and verl compute it. */
  STANDARDISED_UNBIASED,
  /** The group's mean: Dr.GRPO (Liu et al. 2025). */
  CENTRED,
  /** The mean of the other completions of the group: RLOO (Ahmadian et al. 2024, eq. 8). */
  LEAVE_ONE_OUT,
  /** The group's mean, in units of that mean: MaxRL (Tajwar et al. 2026). */
  MEAN_SCALED,
  /** The mean of the group weighted by length: OPO (Hao et al. 2025). */
  LENGTH_WEIGHTED,
  /** The mean of the step, in units of its standard deviation: REINFORCE++ (Hu 2025). */
  STEP_STANDARDISED,
  /**
   * The group's mean, in units of the standard deviation over the step of what is left:
   * REINFORCE++-baseline (Hu 2025).
   */
  GROUP_CENTRED_STEP_SCALED,
  /**
   * The group's mean of each part of the reward apart, in units of that part's standard deviation;
   * their sum in units of its standard deviation over the step: GDPO (Liu et al. 2026).
   */
  PARTS_STANDARDISED
}
