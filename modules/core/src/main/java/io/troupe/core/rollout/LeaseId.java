package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/**
 * The right of one worker to produce one group, with its fencing number: a later lease of the same
 * group has a greater fence, and an answer under a lesser one is refused.
 *
 * @param fence 1 or greater, never used twice in a run
 */
public record LeaseId(GroupId group, long fence) {
  public LeaseId {
    require(fence >= 1, "fences start at 1, not %d", fence);
  }

  @Override
  public String toString() {
    return group + "#" + fence;
  }
}
