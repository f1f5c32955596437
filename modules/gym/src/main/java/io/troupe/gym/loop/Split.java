package io.troupe.gym.loop;

/** A set of items that no student is trained on. */
public enum Split {
  /** The split that steers the agent and chooses the best iteration. */
  VALIDATION,
  /** The split that is answered once, when nothing more is chosen. */
  TEST
}
