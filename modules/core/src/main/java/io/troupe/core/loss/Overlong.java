package io.troupe.core.loss;

import io.troupe.core.advantage.OverlongPunishment;

/**
 * The treatment of completions that come near their token limit.
 *
 * @param masked whether those that the limit cut off have no loss weight; their rewards are in
 *     their group's baseline all the same
 * @param punishment deduction from the reward of a long completion
 */
public record Overlong(boolean masked, OverlongPunishment punishment) {
  /** Overlong completions are trained like all others. */
  public static final Overlong KEPT = new Overlong(false, OverlongPunishment.NONE);
}
