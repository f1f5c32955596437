package io.troupe.gym.item;

import static io.troupe.core.Require.require;

/**
 * The answers of one skill or subskill.
 *
 * @param name the path of the skill
 * @param count answers
 * @param correct right ones among them
 */
public record SkillSlice(String name, int count, int correct) {
  public SkillSlice {
    require(count >= 1, "the slice %s holds at least one answer", name);
    require(correct >= 0 && correct <= count, "%d of %d answers cannot be right", correct, count);
  }

  /** Returns the share of right answers. */
  public double accuracy() {
    return (double) correct / count;
  }

  /** Returns the share with one right and one wrong answer added, which is never 0 or 1. */
  public double smoothed() {
    return (correct + 1.0) / (count + 2.0);
  }

  /** Returns the standard error of the smoothed share. */
  public double standardError() {
    double p = smoothed();
    return Math.sqrt(p * (1 - p) / count);
  }
}
