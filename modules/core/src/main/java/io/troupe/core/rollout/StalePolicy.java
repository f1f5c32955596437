package io.troupe.core.rollout;

/** The treatment of tokens older than the staleness bound. None of them is ever trained on. */
public enum StalePolicy {
  /**
   * Stale tokens get no loss weight; their completion's reward still serves the group's baseline. A
   * group without any young token is sampled again. Strict, without bias in length, without stall.
   */
  MASK,
  /**
   * A group with a stale token is sampled again, first in line. Strict, biased to short answers.
   */
  DROP,
  /** The step is held until every group that would become stale is in it. Strict, but it stalls. */
  WAIT
}
