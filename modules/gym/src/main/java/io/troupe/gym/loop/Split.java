package io.troupe.gym.loop;

/** A set of items that no student is trained on. */
public enum Split {
  /** It steers the agent and chooses the best iteration. */
  VALIDATION,
  /** It is answered once, when nothing more is chosen. */
  TEST
}
