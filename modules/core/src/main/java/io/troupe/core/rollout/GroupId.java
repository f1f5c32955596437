package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/**
 * A group: one prompt in one epoch, with its G completions. Numbers follow the order of admission,
 * from 1; a group that is sampled again after a loss keeps its number.
 */
public record GroupId(long number) implements Comparable<GroupId> {
  public GroupId {
    require(number >= 1, "group numbers start at 1, not %d", number);
  }

  @Override
  public int compareTo(GroupId other) {
    return Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return "g" + number;
  }
}
