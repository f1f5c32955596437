package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.reward.PassMark;
import java.util.ArrayList;
import java.util.List;

/**
 * The number of completions of a group: a fixed number, or as many parts as it takes until enough
 * of them are right and enough are wrong.
 *
 * <p>The rewards alone decide, in order of the completions, so coordinator, worker and replay come
 * to the same size without a word between them.
 *
 * @param part completions that are sampled together, 2 or more
 * @param right completions that pass and end a group, once there are {@code wrong} others too
 * @param wrong other completions, likewise
 * @param most completions at which a group ends in any case; {@code part} means a fixed size
 * @param mark by which a completion passes
 */
public record GroupSize(int part, int right, int wrong, int most, PassMark mark) {
  public GroupSize {
    require(part >= 2, "a group has 2 or more completions, not %d", part);
    require(most >= part, "a group of at most %d completions begins with %d", most, part);
    require(
        right >= 0 && wrong >= 0 && right + wrong <= most,
        "%d right and %d wrong completions are in a group of at most %d",
        right,
        wrong,
        most);
  }

  /** Groups whose completions pass with the full reward of 1. */
  public GroupSize(int part, int right, int wrong, int most) {
    this(part, right, wrong, most, PassMark.FULL);
  }

  /** Groups of one size. */
  public static GroupSize fixed(int completions) {
    return new GroupSize(completions, 0, 0, completions);
  }

  /** Returns the size of groups whose completions pass by this mark. */
  public GroupSize by(PassMark other) {
    return new GroupSize(part, right, wrong, most, other);
  }

  /** Whether groups differ in size. */
  public boolean grows() {
    return most > part;
  }

  /** The size in words, such as "8" or "8 to 64". */
  public String range() {
    return grows() ? part + " to " + most : String.valueOf(part);
  }

  /** Completions to sample next for a group with these rewards so far; 0: it has enough. */
  public int next(List<Double> rewards) {
    if (rewards.isEmpty()) {
      return part;
    }
    int passed = 0;
    for (int i = 0; i < rewards.size(); i++) {
      passed += mark.passes(rewards.get(i)) ? 1 : 0;
    }
    return passed >= right && rewards.size() - passed >= wrong
        ? 0
        : Math.min(part, most - rewards.size());
  }

  /**
   * Whether a group with these rewards is one that ended when it had to, neither before nor after.
   */
  public boolean accepts(List<Double> rewards) {
    if (!grows()) {
      return rewards.size() == part;
    }
    int sampled = 0;
    for (int size : parts(rewards.size())) {
      if (next(rewards.subList(0, sampled)) != size) {
        return false;
      }
      sampled += size;
    }
    return sampled > 0 && next(rewards) == 0;
  }

  /** The sizes of the parts in which completions were sampled, in order. */
  public List<Integer> parts(int completions) {
    List<Integer> parts = new ArrayList<>();
    for (int left = completions; left > 0; left -= part) {
      parts.add(Math.min(part, left));
    }
    return parts;
  }
}
