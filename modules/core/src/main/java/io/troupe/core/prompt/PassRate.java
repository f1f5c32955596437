package io.troupe.core.prompt;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * The evidence of one prompt's groups on how often the policy solves the prompt: a beta posterior
 * whose evidence fades, because the policy moves.
 *
 * @param passed completions that passed; those of earlier groups count less
 * @param failed completions that failed, likewise
 */
public record PassRate(double passed, double failed) {
  /*
   * The prior is Jeffreys', Beta(1/2, 1/2). A group with k right of G makes (s, f) into
   * (lambda s + k, lambda f + G - k), which is Bayes' rule under a power prior (Ibrahim and Chen,
   * "Power prior distributions for regression models", 2000) with the power lambda.
   *
   * The next group of G completions is degenerate if all pass or all fail. Under Beta(a, b) the
   * probability of that is a beta-binomial's:
   *
   *   P(all pass) = prod_{i<G} (a + i) / (a + b + i),   P(all fail) with b for a
   */
  private static final double PRIOR = 0.5;

  /** The share of its weight that evidence keeps with each newer group. */
  static final double KEPT = 0.25;

  /** A prompt whose next group has unequal rewards with this probability or more is promising. */
  static final double PROMISING = 0.5;

  private static final double EQUAL = 1e-9;

  /** The rate of a prompt without a sample. */
  public static final PassRate UNKNOWN = new PassRate(0, 0);

  public PassRate {
    require(
        passed >= 0 && failed >= 0,
        "evidence is not negative: %s passed, %s failed",
        passed,
        failed);
  }

  /** The mean of the posterior. */
  public double mean() {
    return (passed + PRIOR) / (passed + failed + 2 * PRIOR);
  }

  /** The probability that the rewards of the next group differ. */
  public double promise(int completions) {
    double a = passed + PRIOR;
    double b = failed + PRIOR;
    double allPass = 1;
    double allFail = 1;
    for (int i = 0; i < completions; i++) {
      allPass *= (a + i) / (a + b + i);
      allFail *= (b + i) / (a + b + i);
    }
    return 1 - allPass - allFail;
  }

  /** Whether the next group is worth its rollouts; a prompt that was never measured is. */
  boolean promising(int completions) {
    return passed + failed == 0 || promise(completions) >= PROMISING;
  }

  /**
   * Returns the posterior after a group. Where all of its completions pass, or none, and their
   * rewards differ all the same, the group taught something, and half of it counts as passed.
   *
   * @param passes completions of the group that passed
   */
  public PassRate measured(List<Double> rewards, int passes) {
    double least = rewards.getFirst();
    double greatest = least;
    for (double reward : rewards) {
      least = Math.min(least, reward);
      greatest = Math.max(greatest, reward);
    }
    boolean oneSided = passes == 0 || passes == rewards.size();
    double right = oneSided && greatest - least > EQUAL ? rewards.size() / 2.0 : passes;
    return new PassRate(KEPT * passed + right, KEPT * failed + (rewards.size() - right));
  }
}
