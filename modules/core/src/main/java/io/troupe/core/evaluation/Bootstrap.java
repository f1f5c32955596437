package io.troupe.core.evaluation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Percentile intervals of means over prompts (Efron 1979). Each of {@value #RESAMPLES} resamples
 * draws as many prompts as there are, with replacement, by one {@link SplittableRandom} with the
 * seed {@value #SEED}; the interval is from the 2.5th to the 97.5th percentile of their means,
 * interpolated linearly. All statistics of a call share the resamples.
 *
 * <p>Prompts with the same values are interchangeable. So a resample counts how often it drew each
 * distinct row of values, and sums over those. Where there are two distinct rows, as with one
 * answer a prompt that is right or wrong, the number drawn of one is binomial. Its percentiles are
 * then computed, and nothing is drawn.
 */
public final class Bootstrap {
  /** Number of resamples. */
  public static final int RESAMPLES = 1000;

  /** Seed of the draws. */
  public static final long SEED = 42;

  private static final double TAIL = 0.025;

  private Bootstrap() {}

  /**
   * The mean of each statistic with its interval.
   *
   * @param rows the values of each prompt, one a statistic; NaN where a prompt has none
   * @param statistics values of a row
   */
  public static List<Estimate> means(List<double[]> rows, int statistics) {
    List<double[]> kinds = new ArrayList<>();
    int[] kindOf = kinds(rows, kinds);
    int[] counts = new int[kinds.size()];
    for (int kind : kindOf) {
      counts[kind]++;
    }
    boolean binomial = kinds.size() == 2;
    double[][] means =
        binomial ? binomialEnds(kinds, counts, statistics) : drawn(kinds, kindOf, statistics);
    List<Estimate> estimates = new ArrayList<>();
    for (int statistic = 0; statistic < statistics; statistic++) {
      estimates.add(estimate(kinds, counts, statistic, means[statistic], binomial ? 0 : TAIL));
    }
    return estimates;
  }

  /** The means of each statistic in {@value #RESAMPLES} resamples. */
  private static double[][] drawn(List<double[]> kinds, int[] kindOf, int statistics) {
    double[][] means = new double[statistics][RESAMPLES];
    SplittableRandom random = new SplittableRandom(SEED);
    int[] counts = new int[kinds.size()];
    for (int resample = 0; resample < RESAMPLES; resample++) {
      Arrays.fill(counts, 0);
      for (int draw = 0; draw < kindOf.length; draw++) {
        counts[kindOf[random.nextInt(kindOf.length)]]++;
      }
      for (int statistic = 0; statistic < statistics; statistic++) {
        means[statistic][resample] = mean(kinds, counts, statistic);
      }
    }
    return means;
  }

  /** The means of each statistic at both percentiles, for rows of two kinds. */
  private static double[][] binomialEnds(List<double[]> kinds, int[] counts, int statistics) {
    int prompts = counts[0] + counts[1];
    double share = (double) counts[0] / prompts;
    int few = binomialQuantile(prompts, share, TAIL);
    int many = binomialQuantile(prompts, share, 1 - TAIL);
    double[][] means = new double[statistics][];
    for (int statistic = 0; statistic < statistics; statistic++) {
      means[statistic] =
          new double[] {
            mean(kinds, new int[] {few, prompts - few}, statistic),
            mean(kinds, new int[] {many, prompts - many}, statistic)
          };
    }
    return means;
  }

  /**
   * The least number of successes whose cumulated probability is at least {@code level}, as {@code
   * scipy.stats.binom.ppf} has it. Probabilities are taken relative to the most likely number's.
   */
  static int binomialQuantile(int trials, double share, double level) {
    double odds = share / (1 - share);
    double[] weights = new double[trials + 1];
    int mode = (int) ((trials + 1) * share);
    weights[mode] = 1;
    for (int number = mode; number > 0; number--) {
      weights[number - 1] = weights[number] * number / ((trials - number + 1) * odds);
    }
    for (int number = mode; number < trials; number++) {
      weights[number + 1] = weights[number] * odds * (trials - number) / (number + 1);
    }
    double left = level * Arrays.stream(weights).sum();
    int number = 0;
    while (number < trials && (left -= weights[number]) > 0) {
      number++;
    }
    return number;
  }

  private static Estimate estimate(
      List<double[]> kinds, int[] counts, int statistic, double[] means, double tail) {
    double value = mean(kinds, counts, statistic);
    if (Double.isNaN(value)) {
      return Estimate.NONE;
    }
    int prompts = 0;
    for (int kind = 0; kind < counts.length; kind++) {
      prompts += Double.isNaN(kinds.get(kind)[statistic]) ? 0 : counts[kind];
    }
    double[] sorted = Arrays.stream(means).filter(mean -> !Double.isNaN(mean)).sorted().toArray();
    return new Estimate(prompts, value, percentile(sorted, tail), percentile(sorted, 1 - tail));
  }

  private static int[] kinds(List<double[]> rows, List<double[]> kinds) {
    Map<List<Double>, Integer> known = new HashMap<>();
    int[] kindOf = new int[rows.size()];
    for (int i = 0; i < kindOf.length; i++) {
      double[] row = rows.get(i);
      kindOf[i] =
          known.computeIfAbsent(
              Arrays.stream(row).boxed().toList(),
              _ -> {
                kinds.add(row);
                return kinds.size() - 1;
              });
    }
    return kindOf;
  }

  private static double mean(List<double[]> kinds, int[] counts, int statistic) {
    double sum = 0;
    long number = 0;
    for (int kind = 0; kind < counts.length; kind++) {
      double value = kinds.get(kind)[statistic];
      if (!Double.isNaN(value)) {
        sum += counts[kind] * value;
        number += counts[kind];
      }
    }
    return number == 0 ? Double.NaN : sum / number;
  }

  private static double percentile(double[] sorted, double share) {
    double place = share * (sorted.length - 1);
    int below = (int) Math.floor(place);
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }
}
