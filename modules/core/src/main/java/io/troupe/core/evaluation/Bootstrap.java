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
 * distinct row of values, and sums over those.
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
    Arrays.fill(counts, 0);
    for (int kind : kindOf) {
      counts[kind]++;
    }
    List<Estimate> estimates = new ArrayList<>();
    for (int statistic = 0; statistic < statistics; statistic++) {
      estimates.add(estimate(kinds, counts, statistic, means[statistic]));
    }
    return estimates;
  }

  private static Estimate estimate(
      List<double[]> kinds, int[] counts, int statistic, double[] resampled) {
    double value = mean(kinds, counts, statistic);
    if (Double.isNaN(value)) {
      return Estimate.NONE;
    }
    int prompts = 0;
    for (int kind = 0; kind < counts.length; kind++) {
      prompts += Double.isNaN(kinds.get(kind)[statistic]) ? 0 : counts[kind];
    }
    double[] sorted =
        Arrays.stream(resampled).filter(mean -> !Double.isNaN(mean)).sorted().toArray();
    return new Estimate(prompts, value, percentile(sorted, TAIL), percentile(sorted, 1 - TAIL));
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
